"""host_cost: microseconds of the processor for a call of a compiled function: python3 bench/door/host_cost.py, on a GPU. The least of 20 samples
of 20 calls. A line has: kernels, "graph" or "launches"; Dynamo's own part, of a graph that does nothing; a package; a package whose results are
kept, so that their addresses change from call to call; the compiled function, which is both and PyTorch's share of gradients; the same by
Inductor. Then the cost of each further kernel, and functions with many parameters.
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
DEEP = (1, 2, 4, 8)


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


def deep(steps):
    def f(x):
        for _ in range(steps):
            x = (x - x.amax()).softmax(-1) * 3
        return x
    return f


def compiled(f, args, **options):
    """The function by each, after two calls, and the package."""
    torch._dynamo.reset()                     # pylint: disable=protected-access
    made = [cawb.compile(f, choose="verified", cache=FOLDER, **options), torch.compile(f), torch.compile(f, backend=nothing)]
    for one in made * 2:
        one(*args)
    graph, = report.of(backend.owner_of(made[0]))
    return [*made, next(o for o in gc.get_objects() if type(o) is part.Part and o.entry.graph is graph)]   # pylint: disable=unidiomatic-typecheck


def nothing(module, example):
    """A backend whose graphs return the same results in every call."""
    results = module(*[torch.zeros(x.shape, device=x.device) if isinstance(x, torch.Tensor) else x for x in example])
    return lambda *_: results


def keeping(call, most=8):
    held = []

    def kept():
        held.append(call())
        if len(held) > most:
            held.pop(0)
    return kept


def line(steps, graph):
    x = torch.randn(8, 32, device="cuda")
    fast, other, floor, own = compiled(deep(steps), [x], cuda_graph=1 if graph else 0)
    run = own.runner.run
    found = [cost(lambda: floor(x)), cost(lambda: run(x)), cost(keeping(lambda: run(x))), cost(lambda: fast(x)), cost(lambda: other(x))]
    print("%3d kernels as %-8s Dynamo %6.1f  package %6.1f  kept results %6.1f  function %6.1f  Inductor's %6.1f" % (
        own.package.kernels(), "graph" if graph else "launches", *found), flush=True)
    return own.package.kernels(), found[1]


def parameters(layers):
    x = torch.randn(16, 64, device="cuda")
    model = torch.nn.Sequential(*[one for _ in range(layers) for one in (torch.nn.Linear(64, 64), torch.nn.ReLU())]).cuda()
    with torch.no_grad():
        fast, other, floor, own = compiled(model, [x])
        found = [cost(lambda f=f: f(x), 20, 5) for f in (floor, fast, other)]
    print("%3d parameters, %d kernels: Dynamo %6.1f  function %6.1f  Inductor's %6.1f" % (2 * layers, own.package.kernels(), *found), flush=True)


def main():
    print("%s, PyTorch %s" % (torch.cuda.get_device_name(), torch.__version__))
    for graph in (False, True):
        costs = [line(steps, graph) for steps in DEEP]
        (few, least), (many, most) = costs[0], costs[-1]
        print("each further kernel of a package: %.2f" % ((most - least) / (many - few)), flush=True)
    for layers in (4, 40):
        parameters(layers)


main()
