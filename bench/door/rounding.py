"""rounding: what rounding alone makes of a task's results, to tell an ill-conditioned task from a wrong kernel.
python3 bench/door/rounding.py SUITE.jsonl TASK [--draws 8] [--device cuda]

The task runs in float64, and each operator's result is changed at random by at most half a unit in the last place of the task's own type.
Prints the error of each draw, relative to the results without that, and eager PyTorch's error. Where the draws' errors spread over orders of
magnitude, one run's error says little: an error beside eager PyTorch's smaller one is no sign of a wrong kernel.
"""
import argparse
import copy
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "python")]

import torch                                  # noqa: E402  pylint: disable=wrong-import-position
from torch.utils._python_dispatch import TorchDispatchMode              # noqa: E402  pylint: disable=wrong-import-position
import suite                                  # noqa: E402  pylint: disable=wrong-import-position
import zoo                                    # noqa: E402  pylint: disable=wrong-import-position

SEED = 11                                     # of the weights and inputs, as programs.py has them


class Rounded(TorchDispatchMode):
    """Each operator's result in float64 is off by at most `half`, relative to it."""

    def __init__(self, half, seed):
        super().__init__()
        self.half, self.seed = half, seed

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        found = func(*args, **(kwargs or {}))
        if not isinstance(found, torch.Tensor) or found.dtype != torch.float64 or func.is_view:
            return found
        self.seed += 1
        with torch.utils._python_dispatch._disable_current_modes():                                             # pylint: disable=protected-access
            generator = torch.Generator(found.device).manual_seed(self.seed)
            off = torch.rand(found.shape, generator=generator, device=found.device, dtype=found.dtype) * 2 - 1
            return found + found * off * self.half


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suite")
    parser.add_argument("task", help="level/number, as 9/38")
    parser.add_argument("--draws", type=int, default=8)
    parser.add_argument("--device", default="cpu")
    return parser.parse_args()


def first(results):
    return results if isinstance(results, torch.Tensor) else results[0]


def widened(x):
    return x.double() if x.is_floating_point() else x


def main():
    given = options()
    suite.take(given.suite)
    name = next((n for n in zoo.PROGRAMS if n.split(" ")[0] == given.task), None)
    if name is None:
        sys.exit("%s has no task %s" % (given.suite, given.task))
    torch.manual_seed(SEED)
    program = zoo.PROGRAMS[name][1](False, 1)
    module, inputs = program.module.to(given.device), [x.to(given.device) for x in program.inputs]
    with torch.no_grad():
        plain = first(module(*inputs))
        wide, inputs = copy.deepcopy(module).double(), [widened(x) for x in inputs]
        exact = first(wide(*inputs))

        def error(found):
            return ((found.double() - exact).norm() / exact.norm()).item()
        print("%s, %s, on %s: relative errors of the first result" % (name, str(plain.dtype).removeprefix("torch."), given.device))
        print("eager PyTorch  %.1e" % error(plain))
        found = []
        for draw in range(given.draws):
            with Rounded(torch.finfo(plain.dtype).eps / 2, 1_000_003 * draw):
                found.append(error(first(wide(*inputs))))
        print("rounding alone %s" % " ".join("%.1e" % e for e in sorted(found)))


main()
