"""`cawb promote` on the simulated device: what is refused writes nothing; what gets out passes opcheck and falls back in a Python that
knows no cawb."""
import json
import os
import pathlib
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))

from promotecase import KERNEL, PLAN, Promoted, TASK       # noqa: E402  pylint: disable=wrong-import-position

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

class Promote(Promoted):
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


if __name__ == "__main__":
    unittest.main()
