"""promotecase: a package that `cawb promote` made on the simulated device, for tests of what it holds."""
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


@unittest.skipUnless(os.path.exists(PROGRAM), "no cawb at %s" % PROGRAM)
class Promoted(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="cawb-promote-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.run_id = cls.recorded("scaled", TASK, KERNEL, PLAN)
        cls.into = cls.folder / "op"
        cls.done = cls.promote("--modelled", "--speedup", "0.001", "--shape", "rows=6..10/2", "--into", str(cls.into))

    @classmethod
    def recorded(cls, name, task, kernel, plan):
        """A run of this candidate: its name in the store."""
        for ending, text in ((".py", task), ("_k.cu", kernel), ("_k.lua", plan),
                             ("_s.lua", (STRATEGY % cls.folder).replace("/k\"", "/%s_k\"" % name))):
            (cls.folder / (name + ending)).write_text(text)
        done = cls.cawb(str(cls.folder / (name + "_s.lua")), str(cls.folder / (name + ".py")), "--device", "sim:h100", "--quiet",
                        "--set", "rules=off", "--out", str(cls.folder / "runs"))
        assert done.returncode == 0, done.stdout + done.stderr
        return next(p.name for p in (cls.folder / "runs").iterdir() if name in p.name)

    @classmethod
    def composed(cls, name, task, *words):
        (cls.folder / (name + ".py")).write_text(task)
        done = cls.cawb(str(cls.folder / (name + ".py")), "--device", "sim:h100", "--quiet", "--out", str(cls.folder / "runs"), *words)
        assert done.returncode == 0, done.stdout + done.stderr
        return next(p.name for p in (cls.folder / "runs").iterdir() if name in p.name)

    @classmethod
    def cawb(cls, *words):
        return subprocess.run([PROGRAM, *words], capture_output=True, text=True)

    @classmethod
    def promote(cls, *words):
        return cls.cawb("promote", cls.run_id, "--out", str(cls.folder / "runs"), *words)

    def python(self, code, *paths):
        """In a Python that knows these folders and nothing of cawb; as a user would have it."""
        done = subprocess.run([sys.executable, "-c", code], cwd=self.folder / "elsewhere" if (self.folder / "elsewhere").exists() else "/",
                              capture_output=True, text=True,
                              env={"PATH": os.environ["PATH"], "HOME": str(self.folder), "PYTHONPATH": os.pathsep.join(map(str, paths))})
        self.assertEqual(done.returncode, 0, done.stderr[-3000:])
        return done.stdout
