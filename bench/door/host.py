"""host: microseconds of the processor for a call of a compiled function, by part: python3 bench/door/host.py, on a GPU. The least of 20 samples
of 20 calls. Its lines are: kernels, "graph" or "launches", the launcher alone, a package, the compiled function with PyTorch's share, and of
the same function by Inductor; last, packages with many parameters, that of Inductor beside them.
"""
import gc
import pathlib
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))

import torch                                  # noqa: E402  pylint: disable=wrong-import-position
import cawb                                   # noqa: E402  pylint: disable=wrong-import-position
from cawb import backend                      # noqa: E402  pylint: disable=wrong-import-position
from cawb.backend import part, report         # noqa: E402  pylint: disable=wrong-import-position

FOLDER = tempfile.mkdtemp(prefix="cawb-host-")


def cost(call, samples=20, rounds=20):
    """Few enough calls that the queue is never full."""
    best = 1e9
    for _ in range(samples):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        for _ in range(rounds):
            call()
        best = min(best, (time.perf_counter() - begin) / rounds)
    return 1e6 * best


def deep(kernels):
    def f(x):
        for _ in range(kernels):
            x = (x - x.amax()).softmax(-1) * 3
        return x
    return f


def package_of(fast):
    graph, = report.of(backend.owner_of(fast))
    return next(o for o in gc.get_objects() if type(o) is part.Part and o.entry.graph is graph)         # pylint: disable=unidiomatic-typecheck


class Launcher:
    """The arguments of a package's last call of the launcher, to be given again."""

    def __init__(self, own):
        self.own, self.right = own.runner, own.runner.enqueue
        self.own.enqueue = self.note

    def note(self, *given):
        self.given = given
        self.right(*given)

    def __call__(self):
        self.right(*self.given)


def line(kernels, graph):
    torch._dynamo.reset()                     # pylint: disable=protected-access
    x, f = torch.randn(8, 32, device="cuda"), deep(kernels)
    fast = cawb.compile(f, choose="verified", cache=FOLDER, cuda_graph=1 if graph else 0)
    fast(x)
    own = package_of(fast)
    launcher = Launcher(own)
    kept = own.packaged(x)
    launcher()
    alone = cost(launcher)
    own.runner.enqueue = launcher.right
    found = [alone, cost(lambda: own.packaged(x)), cost(lambda: fast(x))]
    del kept
    print("%3d kernels as %-8s launcher %6.1f  package %6.1f  function %6.1f%s" % (
        own.package.kernels(), "graph" if graph else "launches", *found, "" if graph else "  Inductor's %6.1f" % inductors(f, x)), flush=True)


def inductors(f, x):
    other = torch.compile(f)
    other(x)
    return cost(lambda: other(x))


def parameters(layers):
    torch._dynamo.reset()                     # pylint: disable=protected-access
    x = torch.randn(16, 64, device="cuda")
    model = torch.nn.Sequential(*[one for _ in range(layers) for one in (torch.nn.Linear(64, 64), torch.nn.ReLU())]).cuda()
    fast, other = cawb.compile(model, choose="verified", cache=FOLDER), torch.compile(model)
    with torch.no_grad():
        fast(x)
        other(x)
        print("%3d parameters, %d kernels: function %6.1f  Inductor's %6.1f" % (
            2 * layers, package_of(fast).package.kernels(), cost(lambda: fast(x), 20, 5), cost(lambda: other(x), 20, 5)), flush=True)


def main():
    print("%s, PyTorch %s" % (torch.cuda.get_device_name(), torch.__version__))
    for kernels in (1, 2, 4, 8):
        for graph in (False, True):
            line(kernels, graph)
    for layers in (4, 40):
        parameters(layers)


main()
