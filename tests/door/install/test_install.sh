#!/bin/sh
# test_install.sh TREE - an installed tree needs nothing but glibc, and runs from
# wherever it is copied to, with an empty environment.
set -eu

tree=${1:?usage: test_install.sh TREE}
copy=$(mktemp -d "${TMPDIR:-/tmp}/cawb install.XXXXXX")   # a space in the path, too
trap 'rm -rf "$copy"' EXIT
passed=0

die() {
  printf 'test_install: %s\n' "$*" >&2
  exit 1
}

ok() {
  passed=$((passed + 1))
  printf 'ok: %s\n' "$*"
}

cp -R "$tree" "$copy/elsewhere"
cawb=$copy/elsewhere/bin/cawb
share=$copy/elsewhere/share/cawb

for file in bin/cawb lib/libcjson.so.1 lib/libcivetweb.so.1 share/cawb/lua/cawb/init.lua share/cawb/python/cawb_host \
    share/cawb/strategies share/cawb/kernels share/cawb/examples share/cawb/configs share/cawb/docs/README.md \
    share/cawb/CTestTestfile.cmake share/doc/cawb/LICENSE; do
  [ -e "$copy/elsewhere/$file" ] || die "the install tree has no $file"
done
for library in libcjson.so.1 libcivetweb.so.1; do
  [ ! -L "$copy/elsewhere/lib/$library" ] || die "lib/$library is a link, not the library"
done
ok 'every part is there'

if links=$(find "$copy/elsewhere" -type l) && [ -n "$links" ]; then die "links in the tree: $links"; fi
ok 'no links'

# What the loader would open: libc's own parts, and the tree's libraries.
ldd "$cawb" | while read -r name rest; do
  case $name in
    linux-vdso.so.* | linux-gate.so.* | libc.so.6 | libm.so.6 | /lib*/ld-linux*) ;;
    libpthread.so.0 | libdl.so.2) ;;  # parts of glibc
    libcjson.so.1 | libcivetweb.so.1)
      case $rest in
        *"$copy/elsewhere/"*"$name"*) ;;
        *) die "$name is not the tree's own: $rest" ;;
      esac ;;
    *) die "bin/cawb needs $name, which another machine may not have" ;;
  esac
done
ok 'needs glibc and its own libcjson and libcivetweb only'

# No symbol version of glibc above 2.36.
newest=$(objdump -T "$cawb" "$copy/elsewhere/lib/libcjson.so.1" "$copy/elsewhere/lib/libcivetweb.so.1" | grep -o 'GLIBC_[0-9.]*' | sort -Vu | tail -n 1)
[ "$(printf '%s\nGLIBC_2.36\n' "$newest" | sort -V | tail -n 1)" = GLIBC_2.36 ] \
  || die "needs $newest; glibc 2.36 is the promise"
ok "needs $newest at most"

clean() { env -i PATH=/usr/bin:/bin HOME="$copy" "$@" </dev/null; }

cd "$copy"
clean "$cawb" help >help.txt 2>help.err || die "cawb help failed: $(cat help.err)"
grep -q 'STRATEGY' help.txt || die "cawb help does not say how to run a strategy: $(cat help.txt)"
[ ! -s help.err ] || die "cawb help wrote to stderr: $(cat help.err)"
ok 'cawb help runs from a copy, with an empty environment'

status=0
clean "$cawb" no-such-word >word.txt 2>&1 || status=$?
[ "$status" -eq 2 ] || die "an unknown word ends with $status, not 2: $(cat word.txt)"
ok 'an unknown word ends with 2'

# The GPU tests are found where the tree is now, one for each script.
: >"$share/tests/cuda/gpu/test_added_later.lua"
scripts=$(find "$share/tests/cuda/gpu" -name 'test_*.lua' | wc -l)
listed=$(ctest --test-dir "$share" -N -L gpu | sed -n 's/^Total Tests: //p')
[ "$listed" = "$scripts" ] || die "$scripts GPU scripts, but ctest lists '$listed'"
ok "ctest finds the $scripts GPU tests"

if grep -rIl --exclude=python.path "$(cd "$OLDPWD" && pwd)" "$copy/elsewhere/share" >found.txt; then
  die "names the folder it was built in: $(cat found.txt)"
fi
ok 'nothing but the hint at a Python names the build folder'

# A laptop that a class copied the tree to: no PyTorch, and no hint at the Python of the machine that built it.
rm -f "$share/python.path"
if clean python3 -c 'import torch' 2>/dev/null; then
  printf 'skipped: an exercise without PyTorch: the system has one\n'
else
  clean "$cawb" exercise 1 --start one.cu >one.txt 2>&1 || die "no exercise begins: $(cat one.txt)"
  status=0
  clean "$cawb" exercise 1 one.cu >one.txt 2>&1 || status=$?
  if grep -qi 'nvrtc' one.txt; then
    printf 'skipped: an exercise without PyTorch: no compiler is installed\n'
  else
    grep -q 'judged without PyTorch' one.txt && grep -q 'never written' one.txt || die "exercise 1 ends with $status: $(cat one.txt)"
    ok 'an exercise is judged without PyTorch'
  fi
fi

printf '%s passed, 0 failed\n' "$passed"
