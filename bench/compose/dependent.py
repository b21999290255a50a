"""dependent: what kernels that begin while the one before them ends (programmatic dependent launch) are worth for networks, on a GPU.
python3 bench/compose/dependent.py SUITE.jsonl ID... [--seconds S] [--make [--only plain|dependent]]

Each network of the suite (a task in KernelBench's form, by its problem_id) is compiled by cawb twice, with and without. Both are called in
turns in one process: microseconds of a call, the median and the range of its samples, and the ratio with the interval of its median
(bootstrap). Results of 40 calls each, with changing inputs, are compared bit by bit.

--seconds S    of a network's times (6)
--make         compile, which fills the cache of packages, and measure nothing
--only WHICH   plain or dependent: of --make
"""
import argparse
import functools
import json
import pathlib
import random
import statistics
import sys
import time

HERE = pathlib.Path(__file__).resolve()
sys.path[:0] = [str(HERE.parents[1]), str(HERE.parents[2] / "python")]

import torch                                  # noqa: E402  pylint: disable=wrong-import-position

import cawb                                   # noqa: E402  pylint: disable=wrong-import-position
import in_turns                               # noqa: E402  pylint: disable=wrong-import-position
from cawb.backend import native               # noqa: E402  pylint: disable=wrong-import-position

LEAST, CALLS, DRAWS = 5, 40, 2000             # samples; calls whose results are compared; draws of the bootstrap
SIDES = ("plain", "dependent")
made = []                                     # packages on the GPU, in order


def noted(before=native.Native.__init__):
    def init(one, *given):
        before(one, *given)
        made.append(one)
    native.Native.__init__ = init


def loaded(task):
    space = {"__name__": "task"}
    exec(compile(task["code"], task["name"], "exec"), space)           # pylint: disable=exec-used
    torch.manual_seed(11)
    model = space["Model"](*space["get_init_inputs"]()).cuda().eval()
    return model, [[x.cuda() if isinstance(x, torch.Tensor) else x for x in space["get_inputs"]()] for _ in range(4)]


def outputs(run, inputs):
    with torch.no_grad():
        result = run(*inputs)
    return [x.clone() for x in (result if isinstance(result, (tuple, list)) else [result]) if isinstance(x, torch.Tensor)]


def called(run, inputs):
    with torch.no_grad():
        run(*inputs)


def interval(a, b):
    """The ratio of the medians of a and b, and where 95% of its bootstrap lie."""
    draw = random.Random(1)
    ratios = sorted(statistics.median(draw.choices(a, k=len(a))) / statistics.median(draw.choices(b, k=len(b))) for _ in range(DRAWS))
    return statistics.median(a) / statistics.median(b), ratios[DRAWS // 40], ratios[-DRAWS // 40]


def same(a, b):
    return torch.equal(a.flatten().view(torch.uint8), b.flatten().view(torch.uint8))


def differing(run, plain, inputs):
    """How many of CALLS calls, with one of the inputs after the other, give other bits than `plain`, the results for each of them."""
    return sum(not all(map(same, outputs(run, inputs[n % len(inputs)]), plain[n % len(inputs)])) for n in range(CALLS))


def row(task, given):
    model, inputs = loaded(task)
    calls = [cawb.compile(model, choose="always", dependent=dependent) for dependent in (False, True)]
    began = time.monotonic()
    for name, call in zip(SIDES, calls):
        if given.only in (None, name):
            outputs(call, inputs[0])
    print("%s: ready in %.1f s" % (task["name"], time.monotonic() - began), flush=True)
    if given.make:
        return
    plain = [outputs(calls[0], x) for x in inputs]
    wrong = [differing(call, plain, inputs) for call in calls]
    samples = max(LEAST, int(given.seconds / in_turns.LEAST / len(calls)))
    found = in_turns.times({name: functools.partial(called, call, inputs[0]) for name, call in zip(SIDES, calls)}, samples)
    for name, values in found.items():
        print("  %-9s  %8.1f us  [%.1f, %.1f]  of %d samples" % (name, *(1e6 * f(values) for f in (statistics.median, min, max)), len(values)))
    print("  plain / dependent: %.3fx [%.3f, %.3f]" % interval(*found.values()))
    print("  other bits than at first: plain %d of %d calls, dependent %d" % (wrong[0], CALLS, wrong[1]))
    print("  kernels of a call; graphs, changed nodes, launches, of these and of the graphs' nodes begin early: %s" %
          "; ".join("%d %s" % (sum(s["kind"] == "launch" for s in one.steps), one.counts()) for one in made), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suite")
    parser.add_argument("ids", nargs="+")
    parser.add_argument("--seconds", type=float, default=6)
    parser.add_argument("--make", action="store_true")
    parser.add_argument("--only", choices=SIDES)
    given = parser.parse_args()
    noted()
    tasks = {str(task["problem_id"]): task for task in map(json.loads, open(given.suite, encoding="utf-8"))}
    for one in given.ids:
        made.clear()
        row(tasks[one], given)


if __name__ == "__main__":
    main()
