"""graphnet: GraphNet's score over tolerances, of torch.compile(backend="cawb") and of Inductor, on tasks in KernelBench's form.
python3 bench/compose/graphnet.py SUITE.jsonl STORE.jsonl [options]; a run that is repeated goes on where it ended.

--device cuda | sim:h100   sim:h100 takes tensors on the processor and executes kernels on the simulated device; nothing is timed
--shard K/N                every N-th task, from the K-th on
--only PATTERN             names of tasks, a regular expression
--until SECONDS            begin nothing after so many
--patience SECONDS         of one task (300)
--table                    print the table of the store and run nothing

S(t) is the geometric mean over all tasks: of the times faster than eager PyTorch where each output is close to eager's at tolerance t, and
of 0.1 elsewhere. ES(t) is the same below t = 1; from there a wrong output counts as 1, and from t = 3 a failure too. Tolerances are powers of
ten; t = -5 is torch.testing's default. Li et al., "GraphNet: A Large-Scale Computational Graph Dataset for Tensor Compiler Research",
arXiv 2510.24035.
"""
import argparse
import json
import pathlib
import re
import statistics
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve()
sys.path[:0] = [str(HERE.parents[1]), str(HERE.parents[2] / "python")]
import in_turns                               # pylint: disable=wrong-import-position

LEAST, MOST = -10, 4                          # tolerances
RELATIVE = {"float32": 5.886 / 5, "float16": 3 / 5, "bfloat16": 1.796 / 5, "float64": 7 / 5}       # exponents, by t; the absolute ones are t
PENALTY = 0.1
SIDES = ("inductor", "cawb")


# ---- one task

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
    if len(found) != len(plain):
        return None
    return next((t for t in range(LEAST, MOST + 1) if all(close(a, b, t) for a, b in zip(found, plain))), None)


def compiled(side, model, device):
    import cawb                               # pylint: disable=import-outside-toplevel
    import torch                              # pylint: disable=import-outside-toplevel
    if side == "inductor":
        return torch.compile(model)
    return cawb.compile(model, **({} if device == "cuda" else {"device": device}))


def row_of(task, device):
    import torch                              # pylint: disable=import-outside-toplevel
    space = {"__name__": "task"}
    exec(compile(task["code"], task["name"], "exec"), space)           # pylint: disable=exec-used
    torch.manual_seed(11)
    where = "cuda" if device == "cuda" else "cpu"
    model = space["Model"](*space["get_init_inputs"]()).to(where).eval()
    inputs = [x.to(where) if isinstance(x, torch.Tensor) else x for x in space["get_inputs"]()]

    def outputs(run):
        with torch.no_grad():
            result = run(*inputs)
        return [x for x in (result if isinstance(result, (tuple, list)) else [result]) if isinstance(x, torch.Tensor)]

    plain, calls, row = outputs(model), {"eager": lambda: outputs(model)}, {}
    for side in SIDES if device == "cuda" else SIDES[1:]:
        try:
            run = compiled(side, model, device)
            row[side] = {"least": least(outputs(run), plain)}
            calls[side] = lambda run=run: outputs(run)
        except Exception as error:            # pylint: disable=broad-except
            row[side] = {"failed": "%s: %s" % (type(error).__name__, str(error)[:300])}
    return dict(row, seconds={name: statistics.median(found) for name, found in in_turns.times(calls).items()} if device == "cuda" else {}, torch=torch.__version__,
                chip=torch.cuda.get_device_name() if device == "cuda" else device)


# ---- all tasks

def read(path):
    return [json.loads(line) for line in open(path, encoding="utf-8")] if pathlib.Path(path).exists() else []


def key(task):
    return "%s/%s %s" % (task["level"], task["problem_id"], task["name"])


def run_one(given, name):
    words = [sys.executable, str(HERE), given.suite, given.store, "--device", given.device, "--row", name]
    try:
        done = subprocess.run(words, stdout=subprocess.PIPE, text=True, timeout=given.patience, check=False)
        found = [line[4:] for line in done.stdout.splitlines() if line.startswith("ROW ")]
        return json.loads(found[-1]) if found else {"failed": "it ended with status %d" % done.returncode}
    except subprocess.TimeoutExpired:
        return {"failed": "it did not end in %g s" % given.patience}


def run(given):
    begun, known = time.monotonic(), {row["task"] for row in read(given.store)}
    first, of = map(int, given.shard.split("/"))
    names = [key(task) for task in read(given.suite) if re.search(given.only, task["name"])][first - 1::of]
    for name in names:
        if name in known:
            continue
        if time.monotonic() - begun > given.until:
            break
        row = dict(run_one(given, name), task=name)
        with open(given.store, "a", encoding="utf-8") as store:
            store.write(json.dumps(row) + "\n")
        print(name, {side: row.get(side, row.get("failed")) for side in SIDES}, flush=True)


# ---- the score

def worth(row, side, t):
    """What a task counts at a tolerance, in S and in ES."""
    one = row.get(side) or {"failed": "not run"}
    if "failed" in one or side not in row.get("seconds", {}):
        return PENALTY, 1.0 if t >= 3 else PENALTY
    if one["least"] is None or one["least"] > t:
        return PENALTY, 1.0 if t >= 1 else PENALTY
    faster = row["seconds"]["eager"] / row["seconds"][side]
    return faster, faster


def scores(rows, side, t):
    return [statistics.geometric_mean(values) for values in zip(*(worth(row, side, t) for row in rows))]


def table(rows):
    for row in rows:
        if "failed" in row:
            print("left out: %s: %s" % (row["task"], row["failed"]))
    rows = [row for row in rows if row.get("seconds", {}).get("eager")]
    print("%d tasks with times" % len(rows))
    if not rows:
        return
    print("%4s  %s" % ("t", "  ".join("%-26s" % ("%s: close, S, ES" % side) for side in SIDES)))
    for t in range(LEAST, MOST + 1):
        cells = []
        for side in SIDES:
            near = sum((row.get(side) or {}).get("least") is not None and row[side]["least"] <= t for row in rows)
            cells.append("%3d   %6.3f  %6.3f" % (near, *scores(rows, side, t)))
        print("%4d  %s" % (t, "  ".join("%-26s" % cell for cell in cells)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suite")
    parser.add_argument("store")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--shard", default="1/1")
    parser.add_argument("--only", default="")
    parser.add_argument("--until", type=float, default=float("inf"))
    parser.add_argument("--patience", type=float, default=300)
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--row", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.row:
        print("ROW " + json.dumps(row_of(next(task for task in read(given.suite) if key(task) == given.row), given.device)))
        return
    if not given.table:
        run(given)
    table(read(given.store))


if __name__ == "__main__":
    main()
