#!/bin/sh
# containerfile.sh FOLDER: the steps of examples/workshop/Containerfile in a clean Debian tree, made in FOLDER by debootstrap, for
# machines without a program for containers. Needs root, debootstrap and a network; takes some ten minutes. Run by hand. It prints what
# the steps add, and has exercises and a task judged inside the tree, without a network: as in a room that has none.
set -eu
tree=${1:?a folder for the tree is needed}
root=$(cd "$(dirname "$0")/../../.." && pwd)
file=$root/examples/workshop/Containerfile

release=$(sed -n 's/^FROM debian:\([0-9]*\).*/\1/p' "$file")
case $release in
  12) release=bookworm ;;
  13) release=trixie ;;
  *) echo "containerfile.sh: FROM names no Debian that is known here" >&2; exit 1 ;;
esac
[ -d "$tree/etc" ] || debootstrap --variant=minbase "$release" "$tree" >"$tree.log"
tree=$(cd "$tree" && pwd)

# As the slim image has it: no manuals, no archives.
printf 'path-exclude /usr/share/%s/*\n' doc man locale info lintian >"$tree/etc/dpkg/dpkg.cfg.d/docker"
printf 'path-include /usr/share/doc/*/copyright\n' >>"$tree/etc/dpkg/dpkg.cfg.d/docker"
echo 'DPkg::Post-Invoke { "rm -f /var/cache/apt/archives/*.deb /var/cache/apt/*.bin || true"; }; Dir::Cache::pkgcache ""; Dir::Cache::srcpkgcache "";' \
  >"$tree/etc/apt/apt.conf.d/docker-clean"
rm -rf "$tree"/var/cache/apt/archives/*.deb "$tree"/var/cache/apt/*.bin "$tree"/var/lib/apt/lists/* \
  "$tree"/usr/share/doc/* "$tree"/usr/share/man/* "$tree"/usr/share/locale/*

# How to reach the network is the machine's own affair: names, certificates, proxies.
cp -L /etc/resolv.conf "$tree/etc/resolv.conf"
[ ! -f "${SSL_CERT_FILE:-}" ] || cp -L "$SSL_CERT_FILE" "$tree/etc/host-certificates.crt"

environment="PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root"
for name in http_proxy https_proxy no_proxy PIP_INDEX_URL PIP_EXTRA_INDEX_URL PIP_DEFAULT_TIMEOUT; do
  eval "value=\${$name:-}"
  [ -z "$value" ] || environment="$environment $name=$value"
done
[ ! -f "$tree/etc/host-certificates.crt" ] \
  || environment="$environment PIP_CERT=/etc/host-certificates.crt SSL_CERT_FILE=/etc/host-certificates.crt"

# What programs look into; a container has it. debootstrap made the devices, and may have left this one mounted.
[ -d "$tree/proc/self" ] || mount -t proc proc "$tree/proc"
trap 'umount "$tree/proc"' EXIT

# Without a shell of the tree between: what is set here is what its programs see.
inside() {
  # shellcheck disable=SC2086  # a list of words
  env -i $environment chroot "$tree" /bin/sh -ec "$1" </dev/null
}

# The same where no network can be reached, not even the machine itself.
offline() {
  # shellcheck disable=SC2086
  unshare --net env -i $environment chroot "$tree" /bin/sh -ec "$1" </dev/null
}

copy() {
  mkdir -p "$tree/opt/cawb"
  (cd "$root" && git ls-files -z | tar --null -T - -c) | tar -x -C "$tree/opt/cawb"
}

size() { du -sxm "$tree" | cut -f1; }

before=$(size)
# shellcheck disable=SC2162  # a backslash at the end of a line goes on, as in the file itself
while read word rest; do
  case $word in
    ENV) environment="$environment $(printf %s "$rest" | sed 's|:\$PATH|:/usr/sbin:/usr/bin:/sbin:/bin|')" ;;
    COPY) echo "== COPY $rest"; copy ;;
    RUN) echo "== RUN $rest"; inside "$rest" ;;
    WORKDIR) mkdir -p "$tree$rest" ;;
    CMD | FROM | ARG | '' | '#'*) ;;
    *) echo "containerfile.sh: no step $word is known" >&2; exit 1 ;;
  esac
done <"$file"
echo "== the steps add $(($(size) - before)) MiB to a tree of $before MiB"

offline 'cd /work && cawb exercise 2 --solution > two.cu && cawb exercise 2 two.cu --small'
offline 'cd /work && cawb exercise 9 --solution > nine.cu && cawb exercise 9 nine.cu --small'
offline 'cd /work && cawb judge examples/softmax.py kernels/softmax/v3_shuffle --device sim:h100 --set task.rows=64 || [ $? = 1 ]'      # slower is an answer too
offline 'cd /work && cawb examples/softmax.py --device sim:h100 --set task.rows=64'
echo "containerfile.sh: all steps passed"
