"""The launcher of a promoted package hands the driver what the plan says, seen by a libcuda that only writes down what it is asked."""
import ctypes
import json
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))

from promotecase import Promoted       # noqa: E402  pylint: disable=wrong-import-position

# Every call as a line of text.
FAKE = r"""
#include <stdio.h>
#include <stdlib.h>
typedef struct { int id; char pad[4]; unsigned dim[16]; } attribute;
typedef struct { unsigned g[3], b[3], shared; void *stream; attribute *attrs; unsigned n; } config;
static FILE *out(void) { static FILE *f; if (!f) f = fopen(getenv("FAKE_LOG"), "w"); return f; }
int cuCtxGetCurrent(void **c) { *c = (void *)1; return 0; }
int cuModuleLoadData(void **m, const void *data) { *m = (void *)data; fprintf(out(), "load\n"); fflush(out()); return 0; }
int cuModuleGetFunction(void **f, void *m, const char *name) { (void)m; *f = (void *)name; return 0; }
int cuFuncSetAttribute(void *f, int what, int value) { fprintf(out(), "set %s %d %d\n", (char *)f, what, value); return 0; }
int cuLaunchKernelEx(const config *c, void *f, void **p, void **extra) {
  const unsigned char *args = extra[1];
  size_t n = *(size_t *)extra[3];
  (void)p;
  fprintf(out(), "launch %s %u %u %u %u ", (char *)f, c->g[0], c->b[0], c->shared, c->n);
  for (size_t i = 0; i < n; i++) fprintf(out(), "%02x", args[i]);
  fprintf(out(), " %p\n", c->stream);
  fflush(out());
  return getenv("FAKE_FAIL") ? 700 : 0;
}
int cuMemsetD32Async(unsigned long long a, unsigned v, size_t n, void *s) { (void)s; fprintf(out(), "fill %llx %u %zu\n", a, v, n); return 0; }
int cuGetErrorName(int code, const char **name) { *name = code == 700 ? "CUDA_ERROR_ILLEGAL_ADDRESS" : "?"; return 0; }
"""

CALL = r"""
import ctypes, sys
lib = ctypes.CDLL(sys.argv[1])
said = ctypes.create_string_buffer(512)
pointers = (ctypes.c_void_p * 4)(*[0x1000000 * (i + 1) for i in range(4)])
first, count = int(sys.argv[3]), int(sys.argv[4])
rc = lib.cawb_promoted_launch(int(sys.argv[2]), first, count, ctypes.c_void_p(0xabc), pointers, said, ctypes.c_size_t(512))
print(rc, said.value.decode())
"""


@unittest.skipUnless(shutil.which("cc"), "no C compiler")
class Launcher(Promoted):
    def launcher(self, which, first=0, count=3, **environment):
        folder = self.folder / "fake"
        folder.mkdir(exist_ok=True)
        (folder / "cuda.c").write_text(FAKE)
        for words in ((["-o", str(folder / "libcuda.so.1"), str(folder / "cuda.c")]),
                      (["-Wall", "-Wextra", "-Werror", "-o", str(folder / "launcher.so"), str(self.into / "launcher.c"), "-ldl"])):
            subprocess.run(["cc", "-O2", "-shared", "-fPIC"] + words, check=True)
        log = folder / "log"
        log.write_text("")
        done = subprocess.run([sys.executable, "-c", CALL, str(folder / "launcher.so"), str(which), str(first), str(count)],
                              capture_output=True, text=True,
                              env=dict(os.environ, LD_LIBRARY_PATH=str(folder), FAKE_LOG=str(log), **environment))
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.strip(), [line.split() for line in log.read_text().splitlines()]

    def test_it_hands_over_the_plan(self):
        about = json.loads((self.into / "promoted.json").read_text())
        at = {role: 0x1000000 * (i + 1) for i, role in enumerate(about["shapes"][1]["roles"])}
        said, log = self.launcher(1)
        self.assertEqual(said, "0")
        self.assertEqual([line[0] for line in log], ["load", "fill", "launch", "set", "launch"])
        self.assertEqual(log[1][1:], ["%x" % at["output"], "7", str(6 * 32)])
        copy, scale = log[2], log[4]
        self.assertEqual(copy[1:6], ["copy", "3", "64", "0", "0"])
        block = bytes.fromhex(copy[6])
        number = lambda b, i, n: int.from_bytes(b[i:i + n], "little")
        self.assertEqual([number(block, 0, 8), number(block, 8, 8), number(block, 16, 4)],
                         [at["scratch"] + 16, at["input"], 6 * 32])       # a view, 16 bytes behind
        self.assertEqual(scale[1:5], ["scale", "3", "64", "65536"])
        self.assertEqual(log[3][1:], ["scale", "8", "65536"])
        block = bytes.fromhex(scale[6])
        self.assertEqual(block[8], 3)
        self.assertEqual(ctypes.c_double.from_buffer_copy(block[16:24]).value, 1.0)
        self.assertEqual([number(block, 0, 8), number(block, 24, 8), number(block, 32, 8), number(block, 40, 4)],
                         [at["output"], at["scratch"] + 16, at["param"], 6 * 32])
        self.assertEqual(copy[7], "0xabc")

    def test_it_says_what_failed(self):
        self.assertIn("there is no such plan", self.launcher(9)[0])
        self.assertIn("there are no such steps", self.launcher(0, 2, 2)[0])
        self.assertEqual(self.launcher(0, FAKE_FAIL="1")[0], "700 copy: CUDA_ERROR_ILLEGAL_ADDRESS")


if __name__ == "__main__":
    unittest.main()
