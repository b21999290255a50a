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
ACT = """import torch
def act(x):
    return torch.relu(x)
"""

SMALLNET = """import torch
from netparts.act import act
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = torch.nn.BatchNorm1d(8)
    def forward(self, x):
        return act(self.norm(x))
"""

NEIGHBOURLY = """import torch
from smallnet import Net
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.net = Net()
        self.eval()
    def forward(self, x):
        return self.net(x)
def get_inputs():
    return [torch.randn(4, 8)]
def get_init_inputs():
    return []
"""

STRATEGY = """local cawb = require "cawb"
local c = assert(cawb.candidate "%s/k")
return { turns = 1, step = function(run) return run:evaluate(c) and false end }
"""

# Products and a convolution by library calls, of weights that prepare() has put in another order: all of it can be executed
# without a GPU, by PyTorch, but for the launch.
LIBRARY_TASK = """import torch
rows = 4
class Model(torch.nn.Module):
    def __init__(self, inner, bias=True):
        super().__init__()
        self.fc = torch.nn.Linear(16, inner, bias=bias)
        self.conv = torch.nn.Conv1d(inner, 6, 3, stride=2, padding=1)
    def forward(self, x):
        y = torch.relu(self.fc(x))
        return self.conv(y.transpose(1, 2))
def get_inputs():
    return [torch.randn(rows, 10, 16)]
def get_init_inputs():
    return [8]
"""
LIBRARY_KERNEL = r"""extern "C" __global__ void turn(float *to, const float *from, int rows, int columns) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < rows * columns) to[i % columns * rows + i / columns] = from[i];
}
extern "C" __global__ void turn_all(float *to, const float *from, int rows, int columns, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[i / (rows * columns) * rows * columns + i % columns * rows + i / columns % rows] = from[i];
}
"""
LIBRARY_PLAN = """local x, y = inputs[1], outputs[1]
local rows, steps, inner = x.shape[1], x.shape[2], params["fc.bias"].numel
local w = scratch{ shape = { 16, inner }, dtype = "float32" }
prepare(function(p) launch("turn", { grid = 1, block = 1024 }, w, p["fc.weight"], inner, 16) end)
local between = scratch{ shape = { rows * steps, inner }, dtype = "float32" }
gemm{ a = view(x, { shape = { rows * steps, 16 } }), b = w, bias = params["fc.bias"], c = between, epilogue = "bias_relu" }
local turned = scratch{ shape = { rows, inner, steps }, dtype = "float32" }
launch("turn_all", { grid = 4, block = 1024 }, turned, between, steps, inner, between.numel)
conv{ x = turned, w = params["conv.weight"], bias = params["conv.bias"], y = y, stride = 2, padding = 1 }
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
first, count = int(sys.argv[3]), int(sys.argv[4])
rc = lib.cawb_promoted_launch(int(sys.argv[2]), first, count, ctypes.c_void_p(0xabc), pointers, said, ctypes.c_size_t(512))
print(rc, said.value.decode())
"""


@unittest.skipUnless(os.path.exists(PROGRAM), "no cawb at %s" % PROGRAM)
class Promote(unittest.TestCase):
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

    def test_what_is_delivered(self):
        self.assertEqual(self.done.returncode, 0, self.done.stdout + self.done.stderr)
        names = {p.name for p in self.into.iterdir()}
        self.assertLessEqual({"kernel.cu", "plan.lua", "launcher.c", "__init__.py", "promoted.json", "test_promoted.py", "reference.py",
                              "report.md"}, names)
        about = json.loads((self.into / "promoted.json").read_text())
        self.assertEqual([s["tensors"][0][1] for s in about["shapes"]], [[4, 32], [6, 32], [8, 32], [10, 32]])
        self.assertIn("float32[8, 32]: the strict judge, one trial", self.done.stdout)           # between the ends of a range
        self.assertIn("float32[10, 32]: the strict judge, 10 trials", self.done.stdout)
        self.assertEqual(about["params"], ["weight"])
        self.assertIn("modelled, not measured", (self.into / "report.md").read_text())

    def test_refusals_write_nothing(self):
        for words, says in ((["--speedup", "0.001"], "FAILED  times are measured: here they are modelled; --modelled lets them count"),
                            (["--modelled"], "x; --speedup NUMBER asks for another one")):
            into = self.folder / "refused"
            done = self.promote("--into", str(into), *words)
            self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
            self.assertIn(says, done.stdout)
            self.assertFalse(into.exists())

    def test_a_package_whose_own_test_fails_is_refused(self):
        task = TASK + 'if __file__.endswith("reference.py"):\n    raise RuntimeError("it was moved")\n'
        into, run_id = self.folder / "moved", self.recorded("moved", task, KERNEL, PLAN)
        done = self.cawb("promote", run_id, "--out", str(self.folder / "runs"), "--modelled", "--speedup", "0.001", "--into", str(into))
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertRegex(done.stdout, "FAILED  the package's own test.*it was moved")
        self.assertFalse(into.exists() or list(self.folder.glob("moved.untested")))

    def test_deadlines_can_be_set(self):
        into = self.folder / "hurried"
        done = self.promote("--modelled", "--speedup", "0.001", "--into", str(into), "--set", "deadlines.task=0.000001")     # no Python is as fast
        self.assertNotEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("did not answer within 1e-06 s", done.stderr)
        self.assertFalse(into.exists())

    def test_modules_beside_the_task_go_along(self):
        """A batch norm in eval() in a module that imports another: its variances are never negative."""
        (self.folder / "netparts").mkdir()
        (self.folder / "netparts" / "__init__.py").write_text("")
        (self.folder / "netparts" / "act.py").write_text(ACT)
        (self.folder / "smallnet.py").write_text(SMALLNET)
        run_id, into = self.composed("neighbourly", NEIGHBOURLY), self.folder / "apart" / "fast_net"
        into.parent.mkdir()
        done = self.cawb("promote", run_id, "--out", str(self.folder / "runs"), "--modelled", "--speedup", "0.001", "--into", str(into))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        use = "import torch\nfrom fast_net import Module\nassert Module()(torch.ones(4, 8)).min() >= 0"
        self.python(use, into.parent)
        other = self.folder / "other"
        other.mkdir()
        (other / "smallnet.py").write_text("Net = None\n")
        with self.assertRaisesRegex(AssertionError, "smallnet.py is not the module that was verified, .*: rename one of them"):
            self.python(use, other, into.parent)

    def test_a_run_of_two_sizes_is_promoted_at_the_tasks_own(self):
        """--scale both verifies small sizes and times the task's own: the package is for the latter."""
        task = TASK.replace("rows = 4", "rows = 4096").replace("33.0", "65.0").replace("rows, 32", "rows, 64")
        run_id, into = self.composed("twofold", task, "--scale", "both"), self.folder / "twofold_op"
        words = ["promote", run_id, "--out", str(self.folder / "runs"), "--modelled", "--speedup", "0.001", "--into", str(into)]
        done = self.cawb(*words)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("passed  float32[4096, 64]: the strict judge, one trial", done.stdout)
        self.assertIn("passed  float32[4096, 64]: at least 0.001x over eager", done.stdout)
        self.assertRegex(done.stdout, r"passed  float32\[\d{1,3}, 64\]: the strict judge, 10 trials")
        about = json.loads((into / "promoted.json").read_text())
        self.assertEqual([s["tensors"][0][1] for s in about["shapes"]], [[4096, 64]])
        self.assertIn("{ 4096, 64 }", (into / "plan.lua").read_text())

    def test_what_no_simulated_device_can_execute_in_full_is_refused(self):
        task = TASK.replace("rows = 4", "rows = 65536").replace("33.0", "4097.0").replace("rows, 32", "rows, 4096")
        run_id = self.composed("vast", task, "--scale", "both")
        done = self.cawb("promote", run_id, "--out", str(self.folder / "runs"), "--modelled", "--into", str(self.folder / "vast_op"))
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"FAILED  float32\[65536, 4096\]: judged in full: 2.15e\+03 MB and .* promote the run on a machine with one")

    def test_a_version_of_a_family_is_told_of_further_sizes(self):
        task = TASK.replace("x * self.weight", "x.sum(0)")
        (self.folder / "column.py").write_text(task)
        done = self.cawb("ladder", str(self.folder / "column.py"), "--device", "sim:h100", "--quiet", "--set", "turns=2", "--out",
                         str(self.folder / "columns"))
        run_id = next(p.name for p in (self.folder / "columns").iterdir() if "column" in p.name)
        done = self.cawb("promote", run_id, "--turn", "2", "--out", str(self.folder / "columns"), "--modelled", "--speedup", "0.001",
                         "--shape", "rows=9", "--set", "deadlines.run=60", "--into", str(self.folder / "column_op"))
        self.assertIn("passed  float32[9, 32]: the strict judge, 10 trials", done.stdout + done.stderr)

    def test_not_faster_than_the_incumbent(self):
        before = (self.into / "report.md").stat().st_mtime_ns
        done = self.promote("--modelled", "--speedup", "0.001", "--into", str(self.into))
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("faster than the incumbent", done.stdout)
        self.assertEqual((self.into / "report.md").stat().st_mtime_ns, before)

    def test_wrong_words(self):
        for words, says in ((["promote"], "a run and a folder are needed"), (["promote", "x", "--into", "y", "--shape", "rows"], "write NAME=value"),
                            (["promote", self.run_id, "--out", str(self.folder / "runs"), "--into", "y", "--set", "tolerance.factor=9"],
                             "only deadlines.NAME=seconds can be set"),
                            (["promote", "x", "--into", "y", "--shape", "rows=9..3"], "NAME=first..last"),
                            (["promote", "x", "--into", "y", "--shape", "a=1..100,b=1..100"], "more than 1024 shapes"),
                            (["promote", "x", "--into", "y", "--otherwise", "panic"], "reference, warn or refuse"),
                            (["promote", "x", "--into", "my-op"], "my-op is no name for a Python package"),
                            (["promote", "x", "--into", "y", "--package", "torch"], "nor PyTorch's own"),
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
        self.python("""
import torch
from op import Module, reference, run, why_not
m = Module()
assert list(m.state_dict()) == ["weight"], list(m.state_dict())
m.load_state_dict({"weight": torch.linspace(-1, 1, 32)})
x = torch.randn(4, 32, requires_grad=True)
m(x).sum().backward()
assert torch.equal(x.grad, m.weight.expand(4, 32)), x.grad
assert torch.allclose(m.weight.grad, x.detach().sum(0))
assert "not on one GPU" in why_not(x, m.weight) and "not on one GPU" in m.why_not(x)
assert m.why_not(torch.randn(5, 32)) == "it was not verified for float32[5, 32]; verified: float32[4, 32]"
y = torch.compile(m, backend="eager", fullgraph=True)(x)
assert torch.equal(y, x * m.weight)
assert torch.equal(m(x=x), y)
""", self.folder)

    def test_what_was_not_verified_falls_back_warns_or_refuses(self):
        into = self.folder / "pack"
        done = self.promote("--modelled", "--speedup", "0.001", "--into", str(into), "--package", "second_op", "--otherwise", "refuse")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn('packages = ["second_op"]', (into / "pyproject.toml").read_text())
        self.python("""
import copy, io, pickle, warnings
import op, second_op, torch                      # two operators in one process
x = torch.randn(5, 32)
assert torch.equal(op.Module()(x), second_op.reference(x, op.Module().weight)[0])
for call in (second_op.Module(), lambda x: second_op.run(x, torch.ones(32)), copy.deepcopy(second_op.Module())):
    try:
        call(x)
        raise SystemExit("not refused")
    except RuntimeError as error:
        assert "was not verified for float32[5, 32]" in str(error) and 'otherwise("reference")' in str(error), error
second_op.otherwise("warn")
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    for _ in range(3):
        second_op.Module()(x)
assert len(seen) == 1 and "not verified" in str(seen[0].message), seen
assert op.otherwise() == "reference" and second_op.otherwise() == "warn"
again = pickle.loads(pickle.dumps(op.Module()))
assert torch.equal(again(x), x * again.weight)
try:
    op.otherwise("panic")
    raise SystemExit("taken")
except ValueError as error:
    assert "reference, warn, refuse" in str(error)
""", self.folder, into)

    def test_library_calls_prepare_and_constructor(self):
        run_id = self.recorded("mixed", LIBRARY_TASK, LIBRARY_KERNEL, LIBRARY_PLAN)
        done = self.cawb("promote", run_id, "--out", str(self.folder / "runs"), "--modelled", "--speedup", "0.001", "--into",
                         str(self.folder / "mixed_op"))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("another algorithm than the one that was judged", (self.folder / "mixed_op" / "report.md").read_text())
        self.python("""
import inspect, torch
import mixed_op
from mixed_op import launch
launched = []
def kernels(index, first, count, held, device):          # what launcher.c would have the GPU do
    launched.append((first, count))
    f = lambda t: t.view(torch.float32)
    if first == 0:
        made = [t for t in held if t is not None and t.dtype == torch.uint8 and t.numel() == 16 * 8 * 4][0]
        f(made).copy_(held[roles.index("param")].t().reshape(-1))
    else:
        a, b = [t for t in held if t is not None and t.dtype == torch.uint8 and t.numel() == 4 * 10 * 8 * 4]
        f(b).copy_(f(a).view(4, 10, 8).transpose(1, 2).reshape(-1))
roles = launch.ABOUT["shapes"][0]["roles"]
launch.launch = kernels
m = mixed_op.Module(8)
assert str(inspect.signature(mixed_op.Module)) == "(inner, bias=True)", inspect.signature(mixed_op.Module)
x = torch.randn(4, 10, 16)
tensors = [x] + m._weights()
def check():
    with torch.no_grad():
        out, want = launch.execute(0, tensors)[0], mixed_op.reference(*tensors)[0]
    assert (out - want).abs().max() <= 1e-5 * want.abs().max(), (out - want).abs().max()
check()
check()
assert launched == [(0, 1), (1, 1), (1, 1)], launched           # what weights alone make up is made once,
with torch.no_grad():
    m.fc.weight.mul_(-2)
check()
assert launched[3:] == [(0, 1), (1, 1)], launched               # and again where they have changed
assert len(launch._prepared[0, x.device, 0]) == 1               # what was made of the old ones is let go
torch.backends.cuda.matmul.allow_tf32 = True
with launch.Strict():
    for where, name, want in launch._switches():
        assert getattr(where, name) == want, name
assert torch.backends.cuda.matmul.allow_tf32
with torch.inference_mode():
    inner = mixed_op.Module(8)
    assert launch._state(inner._weights()) is None              # nothing tells of their changes
# Made otherwise than it was verified: the reference's own forward, of its own sizes.
other = mixed_op.Module(12)
assert "another 'inner'" in other.why_not(x)
assert other(x).shape == (4, 6, 5) and other.fc.weight.shape == (12, 16)
assert "another 'bias'" in mixed_op.Module(8, bias=False).why_not(x)
assert mixed_op.Module(inner=8).why_not(x) != other.why_not(x)
lost = mixed_op.Module(8)
lost.fc = torch.nn.Sequential(lost.fc)
assert "lost a parameter" in lost.why_not(x) and torch.isfinite(lost(x)).all()
""", self.folder)

    def test_tasks_that_cannot_be_a_module_elsewhere(self):
        task = TASK.replace("self.weight =", "self.n = torch.nn.BatchNorm1d(32)\n        self.weight =") \
            .replace("return x * self.weight", "self.n(x)\n        return x * self.weight")
        run_id = self.recorded("counting", task, KERNEL, PLAN)
        done = self.cawb("promote", run_id, "--out", str(self.folder / "runs"), "--modelled", "--speedup", "0.001", "--into",
                         str(self.folder / "counted"))
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("put the module into eval()", done.stdout)
        self.assertFalse((self.folder / "counted").exists())

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
        self.assertIn("there are no such steps", self.launcher(0, 2, 2)[0])
        self.assertEqual(self.launcher(0, FAKE_FAIL="1")[0], "700 copy: CUDA_ERROR_ILLEGAL_ADDRESS")


if __name__ == "__main__":
    unittest.main()
