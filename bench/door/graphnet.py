"""graphnet: GraphNet's score over tolerances, of torch.compile(backend="cawb") and of Inductor: python3 bench/door/graphnet.py STORE.jsonl
STORE is of `programs.py STORE.jsonl --suite SUITE.jsonl`.

S(t) is the geometric mean over all tasks that PyTorch computes: of the times faster than eager PyTorch where each output is close to eager's
at tolerance t, and of 0.1 elsewhere. ES(t) is the same below t = 1; from there a wrong output counts as 1, and from t = 3 a failure too.
Tolerances are powers of ten; t = -5 is torch.testing's default. Li et al., "GraphNet: A Large-Scale Computational Graph Dataset for Tensor Compiler Research",
arXiv 2510.24035.
"""
import statistics
import sys

import programs

LEAST, MOST = -10, 4                          # tolerances
RELATIVE = {"float32": 5.886 / 5, "float16": 3 / 5, "bfloat16": 1.796 / 5, "float64": 7 / 5}       # exponents, by t; the absolute ones are t
PENALTY = 0.1
SIDES = ("inductor", "cawb")


def close(found, plain, t):
    """Whether an output is close to eager's."""
    import torch                              # pylint: disable=import-outside-toplevel
    if found.dtype != plain.dtype or found.shape != plain.shape:
        return False
    dtype = str(plain.dtype).removeprefix("torch.")
    if dtype not in RELATIVE:
        return torch.equal(found, plain)
    absolute = 10.0 ** (RELATIVE[dtype] * t if dtype == "float64" else t)
    return torch.allclose(found.double(), plain.double(), 10.0 ** (RELATIVE[dtype] * t), absolute, equal_nan=True)


def least(found, plain):
    """The least tolerance at which all outputs are close; None beyond the greatest."""
    pairs = [(a, b) for a, b in zip(found, plain, strict=True) if b is not None]
    return next((t for t in range(LEAST, MOST + 1) if all(a is not None and close(a, b, t) for a, b in pairs)), None)


def worth(row, side, t):
    """What a task counts at a tolerance, in S and in ES."""
    if not row.get("milliseconds"):
        return PENALTY, 1.0 if t >= 3 else PENALTY
    needed = row["close"].get(side)
    if needed is None or needed > t:
        return PENALTY, 1.0 if t >= 1 else PENALTY
    faster = row["milliseconds"]["eager"] / row["milliseconds"][side]
    return faster, faster


def scores(rows, side, t):
    return [statistics.geometric_mean(values) for values in zip(*(worth(row, side, t) for row in rows))]


def near(rows, side, t):
    return sum(row.get("close", {}).get(side) is not None and row["close"][side] <= t for row in rows)


def table(rows):
    """Of the tasks that PyTorch computes."""
    rows = [row for row in rows if not row.get("unsound")]
    print("%d tasks, %d with times" % (len(rows), sum("milliseconds" in row for row in rows)))
    print("%4s  %s" % ("t", "  ".join("%-26s" % ("%s: close, S, ES" % side) for side in SIDES)))
    for t in range(LEAST, MOST + 1) if rows else ():
        cells = ["%3d   %6.3f  %6.3f" % (near(rows, side, t), *scores(rows, side, t)) for side in SIDES]
        print("%4d  %s" % (t, "  ".join("%-26s" % cell for cell in cells)))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    table(programs.read(sys.argv[1]))
