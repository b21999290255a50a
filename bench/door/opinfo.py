"""opinfo: PyTorch's own samples of its operators (OpInfo) under torch.compile(backend="cawb") on the simulated device: values and gradients
against eager PyTorch by torch._dynamo.utils.same at twice eager's error against float64, and strides as eager's.
python3 bench/door/opinfo.py STORE.jsonl [--only PATTERN] [--samples 3] [--seed 1] [--device sim:h100] [--until SECONDS]; a run that is
repeated goes on where it ended. Its table says what is wrong, and which operators of the compiler no sample has reached.
"""
import argparse
import json
import math
import os
import pathlib
import random
import re
import signal
import sys
import tempfile
import time
import types
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "python")]
sys.modules.setdefault("expecttest", types.SimpleNamespace(TestCase=unittest.TestCase))       # samples import it and do not use it

import torch                                  # noqa: E402  pylint: disable=wrong-import-position
from torch._dynamo import utils               # noqa: E402  pylint: disable=wrong-import-position
from torch.testing._internal.common_methods_invocations import op_db         # noqa: E402  pylint: disable=wrong-import-position
from torch.utils import _pytree as pytree     # noqa: E402  pylint: disable=wrong-import-position
import cawb                                   # noqa: E402  pylint: disable=wrong-import-position
from cawb import backend                      # noqa: E402  pylint: disable=wrong-import-position
from cawb.backend import check, lowering, packages, report                   # noqa: E402  pylint: disable=wrong-import-position

FAILURES = os.path.join(tempfile.gettempdir(), "cawb-opinfo")
PATIENCE = 60              # seconds of one sample
MOST = 20000               # elements of a sample's arguments: the device is simulated


STRIDES = "result %d has strides %s, not %s"       # PyTorch itself traces some operators with others than they have in eager mode


class Late(Exception):
    """A sample took too long."""


# ---- a sample as a program

class Program:
    """An operator as a function of the tensors of one sample."""

    def __init__(self, operator, sample):
        leaves, self.form = pytree.tree_flatten((sample.input, sample.args, sample.kwargs))
        self.operator, self.leaves = operator, leaves
        self.places = [i for i, x in enumerate(leaves) if isinstance(x, torch.Tensor)]
        self.given = [leaves[i].detach() for i in self.places]
        self.differentiable = operator.supports_autograd and any(leaves[i].requires_grad for i in self.places)

    def __call__(self, *tensors):
        leaves = list(self.leaves)
        for i, x in zip(self.places, tensors):
            leaves[i] = x
        first, args, kwargs = pytree.tree_unflatten(leaves, self.form)
        found = self.operator.op(first, *args, **kwargs)
        return [x for x in pytree.tree_leaves(found) if isinstance(x, torch.Tensor)]

    def results(self, run, cast=lambda x: x):
        """What `run` makes of the tensors, then its gradients."""
        given = [cast(x).clone() if x.numel() < 2 else cast(x) for x in self.given]
        if not self.differentiable:
            with torch.no_grad():
                return run(*given)
        given = [x.detach().requires_grad_(self.leaves[i].requires_grad) for i, x in zip(self.places, given)]
        found = run(*given)
        losses = [x.square().sum() for x in found if x.requires_grad and not x.is_complex()]
        wanted = [x for x in given if x.requires_grad]
        return found + (list(torch.autograd.grad(sum(losses), wanted, allow_unused=True)) if losses else [])


def wide(x):
    return x.double() if x.is_floating_point() else x


def drawn(operator, count, seed):
    """(number, sample) of some samples that a simulated device can take."""
    samples = list(operator.sample_inputs("cpu", torch.float32, requires_grad=operator.supports_autograd))
    fit = [(i, s) for i, s in enumerate(samples) if is_small(s)]
    return random.Random("%s %s %d" % (operator.name, operator.variant_test_name, seed)).sample(fit, min(count, len(fit)))


def is_small(sample):
    tensors = [x for x in pytree.tree_leaves((sample.input, sample.args, sample.kwargs)) if isinstance(x, torch.Tensor)]
    return sum(x.numel() for x in tensors) < MOST and all(x.layout == torch.strided for x in tensors)


# ---- a row

def judged(program, found, plain):
    try:
        truth = program.results(program, wide)
    except Exception:                         # pylint: disable=broad-except   # an operator that has no float64
        truth = None
    for i, (a, b) in enumerate(zip(plain, found, strict=True)):
        if (a is None) != (b is None):
            return "result %d is there for one of both" % i
        if a is None:
            continue
        words, exact = [], truth[i] if truth and truth[i] is not None and truth[i].dtype == torch.float64 else None
        if not utils.same(a, b, exact, tol=check.TOLERANCE, equal_nan=True, log_error=lambda *w, words=words: words.append(w[0] % w[1:])):
            return "result %d: %s" % (i, "; ".join(words[:1]))
        if any(n > 1 and s != t for n, s, t in zip(a.shape, a.stride(), b.stride())):
            return STRIDES % (i, b.stride(), a.stride())
    return None


def is_mistake(words):
    """Whether a refusal is none: the compiler ended with an error."""
    return words.startswith(("a mistake in the compiler", "an error in the backend"))


def is_random(program):
    """Whether two calls of eager PyTorch differ, or could."""
    if program.operator.name.startswith(("empty", "new_empty")):
        return True
    torch.manual_seed(1)
    one = program.results(program)
    torch.manual_seed(2)
    return not all(a is b or torch.equal(a.nan_to_num(), b.nan_to_num()) for a, b in zip(one, program.results(program)) if a is not None)


def row_of(program, device):
    """{"state", "why", "reached"}: "right", "wrong", "mistake" where the compiler failed, "fell" where no package was made, "nothing" where
    nothing is to be computed; None where there is nothing to compare."""
    try:
        if is_random(program):
            return None
        torch.manual_seed(1)
        plain = program.results(program)
    except Exception:                         # pylint: disable=broad-except   # a sample that eager PyTorch does not take so
        return None
    torch._dynamo.reset()                     # pylint: disable=protected-access
    reached, right = set(), packages.get

    def noted(recorded, *given):
        package = right(recorded, *given)
        reached.update(op["name"] for op in recorded.request["graph"])
        return package
    packages.get = noted
    try:
        fast = cawb.compile(program.__call__, device=device, cache=None, failures=FAILURES)
        torch.manual_seed(1)
        why = judged(program, program.results(fast), plain)
        parts = [p for g in report.of(backend.owner_of(fast)) for p in g.parts]
        failed = [p.why for p in parts if p.checked and p.why]
        refusals = [words for g in report.of(backend.owner_of(fast)) for *_, words in g.left] + [p.why or "" for p in parts]
    except Exception as error:                # pylint: disable=broad-except
        return {"state": "late" if isinstance(error, Late) else "raised", "why": "%s: %s" % (type(error).__name__, str(error)[:300]), "reached": []}
    finally:
        packages.get = right
        report.graphs.clear()
    why = why or next(iter(failed), None) or next(filter(is_mistake, refusals), None)
    bad = "strides" if "has strides" in (why or "") else "mistake" if is_mistake(why or "") else "wrong"
    return {"state": bad if why else "right" if reached else "fell" if set(refusals) - {"", "it computes nothing"} else "nothing",
            "why": why, "reached": sorted(reached)}


# ---- all of them

def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("store")
    parser.add_argument("--only", default="")
    parser.add_argument("--samples", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--device", default="sim:h100")
    parser.add_argument("--until", type=float, default=math.inf)
    return parser.parse_args()


def rows_of(given, known):
    begin = time.perf_counter()
    for operator in op_db:
        name = ".".join(filter(None, [operator.name, operator.variant_test_name]))
        if torch.float32 not in operator.dtypes or not re.search(given.only, name) or name in known:
            continue
        if time.perf_counter() - begin > given.until:
            return
        rows = []
        for number, sample in drawn(operator, given.samples, given.seed):
            signal.alarm(PATIENCE)
            try:
                row = row_of(Program(operator, sample), given.device)
            except Late:
                row = {"state": "late", "why": None, "reached": []}
            signal.alarm(0)
            if row:
                rows.append(dict(row, operator=name, sample=number))
        yield rows or [{"operator": name, "state": "none", "why": None, "reached": []}]


def late(*_):
    raise Late


def read(store):
    if not os.path.exists(store):
        return []
    with open(store, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def table(rows, device):
    own, reached = set(lowering.operators(device)), {name for row in rows for name in row["reached"]}
    for row in rows:
        if row["state"] in ("wrong", "mistake", "strides", "raised", "late"):
            print("%-7s %s, sample %d: %s" % (row["state"], row["operator"], row["sample"], (row["why"] or "").split("\n", 1)[0][:160]))
    count = {state: sum(row["state"] == state for row in rows) for state in ("right", "wrong", "mistake", "strides", "fell", "nothing", "raised", "late")}
    print("%d operators of PyTorch: %s samples" % (len({row["operator"] for row in rows}), ", ".join("%d %s" % (n, s) for s, n in count.items())))
    print("%d of the compiler's %d operators reached; not: %s" % (len(own & reached), len(own), ", ".join(sorted(own - reached))))


def main():
    given = options()
    signal.signal(signal.SIGALRM, late)
    for rows in rows_of(given, {row["operator"] for row in read(given.store)}):
        with open(given.store, "a", encoding="utf-8") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)
    table(read(given.store), given.device)


if __name__ == "__main__":
    main()
