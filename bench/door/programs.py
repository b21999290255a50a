"""programs: forty public programs under torch.compile(backend="cawb"), beside eager PyTorch and Inductor: right or wrong, what fell back,
seconds to compile, times. python3 bench/door/programs.py STORE.jsonl [options]; a run that is repeated goes on where it ended.

--device cuda | sim:h100   sim:h100 takes tensors on the processor and executes kernels on the simulated device
--small                    few layers and small inputs
--lower                    full sizes on tensors without data: nothing is executed; the table says what falls back
--only PATTERN             names of programs, a regular expression
--modes one,many,train     batch 1, batch 32, a training step
--tf32                     PyTorch may round to TF32; cawb keeps float32's accuracy
--budget SECONDS           begin no further program afterwards
--patience SECONDS         of one program (900)
--table                    print the table of the store and run nothing
"""
import argparse
import json
import math
import os
import pathlib
import re
import statistics
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "python")]
MODES = ("one", "many", "train")


def options(words=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("store")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--only", default="")
    parser.add_argument("--modes", default=",".join(MODES))
    parser.add_argument("--budget", type=float, default=math.inf)
    parser.add_argument("--patience", type=float, default=900)
    parser.add_argument("--row", help=argparse.SUPPRESS)
    for name in ("small", "lower", "tf32", "table"):
        parser.add_argument("--" + name, action="store_true")
    found = parser.parse_args(words)
    found.device = "sim:h100" if found.lower else found.device
    return found


def key(row):
    return tuple(row[name] for name in ("program", "mode", "device", "small", "lower", "tf32"))


def about(given, name, mode):
    return {"program": name, "mode": mode, "device": given.device, "small": given.small, "lower": given.lower, "tf32": given.tf32}


def read(store):
    if not os.path.exists(store):
        return []
    with open(store, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def run_one(given, name, modes):
    """Rows of one program, from a process of its own, which may end as it likes."""
    words = [sys.executable, str(HERE / "program_row.py"), given.store, "--row", name, "--device", given.device, "--modes", ",".join(modes)]
    words += ["--" + flag for flag in ("small", "lower", "tf32") if getattr(given, flag)]
    try:
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=given.patience, check=False)
        said, why = done.stdout, "it ended with status %d: %s" % (done.returncode, done.stderr[-400:])
    except subprocess.TimeoutExpired as late:
        said, why = (late.stdout or b"").decode(), "it took more than %d s" % given.patience
    rows = [json.loads(line[4:]) for line in said.splitlines() if line.startswith("ROW ")]
    left = modes[len(rows):]
    return rows + [dict(about(given, name, mode), failed=why) for mode in left[:1]]


def run(given):
    import atoms                              # pylint: disable=import-outside-toplevel,unused-import
    import zoo                                # pylint: disable=import-outside-toplevel
    begin, known = time.perf_counter(), {key(row) for row in read(given.store)}
    for name in [n for n in zoo.PROGRAMS if re.search(given.only, n)]:
        modes = [m for m in given.modes.split(",") if key(about(given, name, m)) not in known]
        if not modes or time.perf_counter() - begin > given.budget:
            continue
        rows = run_one(given, name, modes)
        with open(given.store, "a", encoding="utf-8") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)
        for row in rows:
            print(line(row), flush=True)


# ---- the table

def ratio(slow, fast):
    """How many times faster: the geometric mean of pairs, and its 95% interval by Student's t of 8 degrees."""
    logs = [math.log(a / b) for a, b in zip(slow, fast)]
    middle, half = statistics.mean(logs), 2.306 * statistics.stdev(logs) / math.sqrt(len(logs))
    return [math.exp(middle + d) for d in (0, -half, half)]


def cells(row):
    if row.get("missing") or row.get("failed"):
        return [row.get("missing") or "failed: " + row["failed"].strip().splitlines()[-1][:110]]
    seconds, times = row["seconds"], row.get("times") or {}
    found = [{True: "right", False: "WRONG", None: "not run"}[row["right"]], "%d/%d" % (row["packages"], row["graphs"]), "%.0f%%" % (100 * row["fell"]),
             "%.0f" % seconds["cawb"], "%.0f" % seconds["inductor"] if "inductor" in seconds else ""]
    for other in ("eager", "inductor"):
        found.append("%.2f [%.2f, %.2f]" % tuple(ratio(times[other], times["cawb"])) if other in times else "")
    return found


def line(row):
    return "%-18s %-6s %s" % (row["program"], row["mode"], "  ".join("%-7s" % cell for cell in cells(row)))


def mean(ratios):
    return "%.2fx of %d" % (statistics.geometric_mean(ratios), len(ratios)) if ratios else "none"


def table(rows):
    print("%-18s %-6s right    packages/graphs  fell back  seconds: cawb, Inductor  times faster than eager, Inductor" % ("program", "mode"))
    for row in rows:
        print(line(row))
    for mode in MODES:
        chosen = [row for row in rows if row["mode"] == mode]
        timed = [row["times"] for row in chosen if row.get("times")]
        better = [min(ratio(t[other], t["cawb"])[0] for other in ("eager", "inductor") if other in t) for t in timed]
        print("%s: %d rows, %d right, %d wrong, %d failed or missing, %d whole; over the better of both %s, least %s"
              % (mode, len(chosen), sum(row.get("right") is True for row in chosen), sum(row.get("right") is False for row in chosen),
                 sum("fell" not in row for row in chosen), sum(row.get("fell") == 0 for row in chosen), mean(better),
                 "%.2fx" % min(better) if better else "none"))
    lacking = {}
    for row in rows:
        for operator, _, why in row.get("left", []):
            lacking.setdefault((operator, why), set()).add(row["program"])
    for (operator, why), names in sorted(lacking.items(), key=lambda item: -len(item[1])):
        print("%3d  %s: %s (%s)" % (len(names), operator, why, ", ".join(sorted(names))))


if __name__ == "__main__":
    chosen_options = options()
    if not chosen_options.table:
        run(chosen_options)
    table([row for row in read(chosen_options.store) if re.search(chosen_options.only, row["program"])])
