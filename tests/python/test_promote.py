"""`cawb promote` on the simulated device: what is refused writes nothing; what gets out passes opcheck and
falls back in a Python that knows no cawb; and the launcher hands the driver what the plan says, seen by
a libcuda that only writes down what it is asked.
"""
import ctypes
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("CAWB_PROGRAM") or str(ROOT / "build" / "release" / "bin" / "cawb")

# scratch, a fill, two launches with offsets and numbers of several sizes, a weight
TASK = """import torch
rows = 4
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.arange(1.0, 33.0))
    def forward(self, x):
        return x * self.weight
def get_inputs():
    return [torch.randn(rows, 32)]
def get_init_inputs():
    return []
"""
KERNEL = r"""extern "C" __global__ void copy(float *t, const float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) t[i] = x[i];
}
extern "C" __global__ void scale(float *y, char pad, double one, const float *t, const float *w, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = t[i] * w[i % 32] * (float)one;
}
"""
PLAN = """local x, y, w = inputs[1], outputs[1], params["weight"]
local t = scratch(x.bytes + 64)
local after = view(t, { shape = {x.numel}, offset = 16 })
memset(y, 7)
launch("copy", { grid = (x.numel + 63) // 64, block = 64 }, after, x, x.numel)
launch("scale", { grid = (x.numel + 63) // 64, block = 64, shared = 65536 }, y, 3, 1.0, after, w, x.numel)
"""
STRATEGY = """local cawb = require "cawb"
local c = assert(cawb.candidate "%s/k")
return { turns = 1, step = function(run) return run:evaluate(c) and false end }
"""

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
rc = lib.cawb_promoted_launch(int(sys.argv[2]), ctypes.c_void_p(0xabc), pointers, said, ctypes.c_size_t(512))
print(rc, said.value.decode())
"""


@unittest.skipUnless(os.path.exists(PROGRAM), "no cawb at %s" % PROGRAM)
class Promote(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="cawb-promote-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        for name, text in (("scaled.py", TASK), ("k.cu", KERNEL), ("k.lua", PLAN), ("s.lua", STRATEGY % cls.folder)):
            (cls.folder / name).write_text(text)
        done = cls.cawb(str(cls.folder / "s.lua"), str(cls.folder / "scaled.py"), "--device", "sim:h100", "--quiet", "--set", "rules=off",
                        "--out", str(cls.folder / "runs"))
        assert done.returncode == 0, done.stderr
        cls.run_id = next(p.name for p in (cls.folder / "runs").iterdir() if "scaled" in p.name)
        cls.into = cls.folder / "op"
        cls.done = cls.promote("--modelled", "--speedup", "0.001", "--shape", "rows=6", "--into", str(cls.into))

    @classmethod
    def cawb(cls, *words):
        return subprocess.run([PROGRAM, *words], capture_output=True, text=True)

    @classmethod
    def promote(cls, *words):
        return cls.cawb("promote", cls.run_id, "--out", str(cls.folder / "runs"), *words)

    def test_what_is_delivered(self):
        self.assertEqual(self.done.returncode, 0, self.done.stdout + self.done.stderr)
        names = {p.name for p in self.into.iterdir()}
        self.assertLessEqual({"kernel.cu", "plan.lua", "launcher.c", "promoted.py", "promoted.json", "test_promoted.py", "reference.py",
                              "report.md"}, names)
        about = json.loads((self.into / "promoted.json").read_text())
        self.assertEqual([s["tensors"][0][1] for s in about["shapes"]], [[4, 32], [6, 32]])
        self.assertEqual(about["params"], ["weight"])
        self.assertIn("modelled, not measured", (self.into / "report.md").read_text())

    def test_refusals_write_nothing(self):
        for words, says in ((["--speedup", "0.001"], "FAILED  times are measured"),
                            (["--modelled"], "at least 1.05x over eager")):
            into = self.folder / "refused"
            done = self.promote("--into", str(into), *words)
            self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
            self.assertIn(says, done.stdout)
            self.assertFalse(into.exists())

    def test_not_faster_than_the_incumbent(self):
        before = (self.into / "report.md").stat().st_mtime_ns
        done = self.promote("--modelled", "--speedup", "0.001", "--into", str(self.into))
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("faster than the incumbent", done.stdout)
        self.assertEqual((self.into / "report.md").stat().st_mtime_ns, before)

    def test_wrong_words(self):
        for words, says in ((["promote"], "a run and a folder are needed"), (["promote", "x", "--into", "y", "--shape", "rows"], "write NAME=value"),
                            (["promote", "x", "--into", "y", "--out", "/nosuch"], "there is no store")):
            done = self.cawb(*words)
            self.assertEqual(done.returncode, 2)
            self.assertIn(says, done.stderr)

    def test_its_own_test_in_a_python_without_cawb(self):
        done = subprocess.run([sys.executable, "test_promoted.py"], cwd=self.into, capture_output=True, text=True,
                              env={"PATH": os.environ["PATH"], "HOME": str(self.folder)})
        self.assertEqual(done.returncode, 0, done.stderr[-3000:])
        self.assertIn("OK", done.stderr)

    def test_module_and_gradients_without_a_gpu(self):
        code = """
import promoted, torch
m = promoted.Module()
x = torch.randn(4, 32, requires_grad=True)
m(x).sum().backward()
assert torch.equal(x.grad, m.model.weight.expand(4, 32)), x.grad
assert torch.allclose(m.model.weight.grad, x.detach().sum(0))
assert "not on one GPU" in promoted.why_not(x, m.model.weight)
y = torch.compile(m, backend="eager", fullgraph=True)(x)
assert torch.equal(y, x * m.model.weight)
"""
        done = subprocess.run([sys.executable, "-c", code], cwd=self.into, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr[-3000:])

    def launcher(self, which, **environment):
        folder = self.folder / "fake"
        folder.mkdir(exist_ok=True)
        (folder / "cuda.c").write_text(FAKE)
        for words in ((["-o", str(folder / "libcuda.so.1"), str(folder / "cuda.c")]),
                      (["-Wall", "-Wextra", "-Werror", "-o", str(folder / "launcher.so"), str(self.into / "launcher.c"), "-ldl"])):
            subprocess.run(["cc", "-O2", "-shared", "-fPIC"] + words, check=True)
        log = folder / "log"
        log.write_text("")
        done = subprocess.run([sys.executable, "-c", CALL, str(folder / "launcher.so"), str(which)], capture_output=True, text=True,
                              env=dict(os.environ, LD_LIBRARY_PATH=str(folder), FAKE_LOG=str(log), **environment))
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.strip(), [line.split() for line in log.read_text().splitlines()]

    @unittest.skipUnless(shutil.which("cc"), "no C compiler")
    def test_launcher_hands_over_the_plan(self):
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

    @unittest.skipUnless(shutil.which("cc"), "no C compiler")
    def test_launcher_says_what_failed(self):
        self.assertIn("there is no such plan", self.launcher(9)[0])
        self.assertEqual(self.launcher(0, FAKE_FAIL="1")[0], "700 copy: CUDA_ERROR_ILLEGAL_ADDRESS")


if __name__ == "__main__":
    unittest.main()
