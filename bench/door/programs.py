"""programs: forty public programs under torch.compile(backend="cawb"), beside eager PyTorch and Inductor: right or wrong, what fell back,
seconds to compile, times. python3 bench/door/programs.py STORE.jsonl [options]; a run that is repeated goes on where it ended.

--device cuda | sim:h100   sim:h100 takes tensors on the processor and executes kernels on the simulated device
--small                    few layers and small inputs
--lower                    full sizes on tensors without data: nothing is executed; the table says what falls back
--only PATTERN             names of programs, a regular expression
--modes one,many,train     batch 1, batch 32, a training step
--tf32                     PyTorch's defaults: convolutions round to TF32; cawb keeps float32's accuracy
--rival MODE               a mode of torch.compile in the place of Inductor's default: max-autotune, which tries hundreds of kernels for
                           a network, minutes on all processors
--choose verified          kernels that are right stay, and are not timed beside Inductor's: seconds are those until a graph is ready
--suite SUITE.jsonl        tasks in KernelBench's form in the place of the forty programs; --modes is one
--first NAME,NAME          these programs begin before the others
--jobs N                   processes beside each other for each GPU: they compile so, and execute one at a time (turns.py)
--until SECONDS            end what is under way then; its rows are made anew by the next run
--patience SECONDS         of one program (900)
--table                    print the table of the store and run nothing

All GPUs are used that CUDA_VISIBLE_DEVICES names, or that there are, each with its share of the processors.
"""
import argparse
import concurrent.futures
import json
import math
import os
import pathlib
import queue
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parents[1] / "python")]
MODES = ("one", "many", "train")
WORDS = 6000                                  # of the log: what a program said last
WIDTH = 110                                   # of a reason in the table
BEHIND = 0.98                                 # times the speed of the better of both, from which on a program is not behind


def options(words=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("store")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--only", default="")
    parser.add_argument("--modes", default=",".join(MODES))
    parser.add_argument("--first", default="")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--until", type=float, default=math.inf)
    parser.add_argument("--patience", type=float, default=900)
    parser.add_argument("--suite")
    parser.add_argument("--rival", default="default", choices=("default", "max-autotune"))
    parser.add_argument("--choose", default="measured", choices=("measured", "verified"))
    parser.add_argument("--row", help=argparse.SUPPRESS)
    parser.add_argument("--turns", help=argparse.SUPPRESS)
    for name in ("small", "lower", "tf32", "table"):
        parser.add_argument("--" + name, action="store_true")
    found = parser.parse_args(words)
    found.device = "sim:h100" if found.lower else found.device
    found.modes = "one" if found.suite else found.modes
    return found


def key(row):
    named = tuple(row[name] for name in ("program", "mode", "device", "small", "lower", "tf32"))
    return named + (row.get("rival", "default"), row.get("choose", "measured"))


def about(given, name, mode):
    return {"program": name, "mode": mode, "device": given.device, "small": given.small, "lower": given.lower, "tf32": given.tf32,
            "rival": given.rival, "choose": given.choose}


def read(store):
    """Rows; of those that were made again, the last."""
    if not os.path.exists(store):
        return []
    with open(store, encoding="utf-8") as file:
        return list({key(row): row for row in map(json.loads, file)}.values())


def is_known(row):
    """Others may have had the memory that a row lacked."""
    return "out of memory" not in row.get("failed", "")


def ended(words, seconds, environment):
    """(standard output, status or None if it was not in time, last words) of a process, which may end as it likes with those it starts."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+", errors="replace") as err:
        with subprocess.Popen(words, stdout=out, stderr=err, start_new_session=True, env=environment) as process:
            try:
                status = process.wait(seconds)
            except subprocess.TimeoutExpired:
                status = None
                os.killpg(process.pid, signal.SIGKILL)
        out.seek(0)
        err.seek(0)
        return out.read(), status, err.read()[-WORDS:]


# ---- places: a GPU, and a share of the processors, which are those of a thread and of the processes it starts

here = threading.local()


def gpus(given):
    """Names of the GPUs, or None where no program executes on one."""
    if given.device != "cuda":
        return [None]
    named = os.environ.get("CUDA_VISIBLE_DEVICES")
    if named:
        return named.split(",")
    import torch                              # pylint: disable=import-outside-toplevel
    return [str(i) for i in range(torch.cuda.device_count())] or [None]


def places(given):
    names, processors = gpus(given), sorted(os.sched_getaffinity(0))
    share = max(1, len(processors) // len(names))
    free = queue.SimpleQueue()
    for _ in range(given.jobs):
        for i, name in enumerate(names):
            free.put((name, processors[i * share:][:share] or processors))
    return free


def move_in(free):
    """A thread of the pool takes a place, and keeps it."""
    here.gpu, processors = free.get()
    os.sched_setaffinity(0, processors)


def run_one(given, name, modes, left):
    """Rows of one program, from a process of its own, which has `left` seconds or its patience."""
    words = [sys.executable, str(HERE / "program_row.py"), given.store, "--row", name, "--device", given.device, "--modes", ",".join(modes)]
    words += ["--" + flag for flag in ("small", "lower", "tf32") if getattr(given, flag)]
    words += ["--suite", given.suite] if given.suite else []
    words += ["--rival", given.rival, "--choose", given.choose]
    words += ["--turns", "%s.turns%s" % (given.store, here.gpu or "")] if given.jobs > 1 else []
    environment = dict(os.environ, **({"CUDA_VISIBLE_DEVICES": here.gpu} if here.gpu else {}))
    said, status, words = ended(words, min(left, given.patience), environment)
    with open(given.store + ".log", "a", encoding="utf-8") as log:
        log.write("---- %s\n%s\n" % (name, words))
    rows = [json.loads(line[4:]) for line in said.splitlines() if line.startswith("ROW ")]
    if status is None and left <= given.patience:
        return rows                           # cut off by the end of the run, not by its own
    why = "it took more than %d s" % given.patience if status is None else "it ended with status %d: %s" % (status, words[-400:])
    return rows + [dict(about(given, name, mode), failed=why) for mode in modes[len(rows):][:1]]


def run(given):
    import atoms                              # pylint: disable=import-outside-toplevel,unused-import
    import suite                              # pylint: disable=import-outside-toplevel
    import zoo                                # pylint: disable=import-outside-toplevel
    if given.suite:
        suite.take(given.suite)
    begin, known, first = time.perf_counter(), {key(row) for row in filter(is_known, read(given.store))}, given.first.split(",")

    def one(name):
        modes = [m for m in given.modes.split(",") if key(about(given, name, m)) not in known]
        left = given.until - (time.perf_counter() - begin)
        return run_one(given, name, modes, left) if modes and left > 0 else []
    names = sorted((n for n in zoo.PROGRAMS if re.search(given.only, n)), key=lambda n: first.index(n) if n in first else len(first))
    free = places(given)
    with concurrent.futures.ThreadPoolExecutor(free.qsize(), initializer=move_in, initargs=(free,)) as pool:
        for done in concurrent.futures.as_completed([pool.submit(one, name) for name in names]):
            with open(given.store, "a", encoding="utf-8") as file:
                file.writelines(json.dumps(row) + "\n" for row in done.result())
            for row in done.result():
                print(line(row), flush=True)


# ---- the table

def ratio(slow, fast):
    """How many times faster: the geometric mean of pairs, and its 95% interval by Student's t of 8 degrees."""
    logs = [math.log(a / b) for a, b in zip(slow, fast)]
    middle, half = statistics.mean(logs), 2.306 * statistics.stdev(logs) / math.sqrt(len(logs))
    return [math.exp(middle + d) for d in (0, -half, half)]


def cells(row):
    if row.get("unsound"):
        return ["PyTorch does not compute it: " + row["unsound"].splitlines()[0][:WIDTH]]
    if row.get("missing") or row.get("failed"):
        return [row.get("missing") or "failed: " + row["failed"].strip().splitlines()[-1][:WIDTH]]
    seconds, times = row["seconds"], row.get("times") or {}
    found = [{True: "right", False: "WRONG", None: "not run"}[row["right"]], "%d/%d" % (row["packages"], row["graphs"]), "%.0f%%" % (100 * row["fell"]), "%.0f%%" % (100 * row.get("slower", 0)),
             " ".join("%.1e" % row[name] for name in ("error", "eager_error", "inductor_error") if row.get(name) is not None),
             "%.0f" % seconds["cawb"], "%.0f" % seconds["inductor"] if "inductor" in seconds else ""]
    for other in ("eager", "inductor"):
        found.append("%.2f [%.2f, %.2f]" % tuple(ratio(times[other], times["cawb"])) if other in times else "")
    return found


def line(row, width=18):
    return "%-*s %-6s %s" % (width, row["program"], row["mode"], "  ".join("%-7s" % cell for cell in cells(row)))


def mean(ratios):
    return "%.2fx of %d" % (statistics.geometric_mean(ratios), len(ratios)) if ratios else "none"


def table(rows):
    width = max([18, *(len(row["program"]) for row in rows)])
    print("%-*s %-6s right    packages/graphs  fell back, slower  error: cawb, eager%s  seconds: cawb, Inductor  times faster than eager, Inductor"
          % (width, "program", "mode", ", Inductor" if any("inductor_error" in row for row in rows) else ""))
    for row in rows:
        print(line(row, width))
    for mode in MODES:
        chosen = [row for row in rows if row["mode"] == mode]
        if not chosen:
            continue
        timed = [row["times"] for row in chosen if row.get("times")]
        judged = [row["inductor_right"] for row in chosen if "inductor_right" in row]
        better = [min(ratio(t[other], t["cawb"])[0] for other in ("eager", "inductor") if other in t) for t in timed]
        seconds = [row["seconds"]["cawb"] / row["seconds"]["inductor"] for row in chosen if "inductor" in row.get("seconds", {})]
        print("%s: %d rows, %d right, %d wrong, %d failed or missing, %d that PyTorch does not compute, %d whole; over the better of both %s, least %s; %d below %.2fx; seconds %s of Inductor's%s"
              % (mode, len(chosen), sum(row.get("right") is True for row in chosen), sum(row.get("right") is False for row in chosen),
                 sum("fell" not in row and "unsound" not in row for row in chosen), sum("unsound" in row for row in chosen),
                 sum(row.get("fell") == 0 for row in chosen), mean(better),
                 "%.2fx" % min(better) if better else "none", sum(x < BEHIND for x in better), BEHIND, "%.2f" % statistics.median(seconds) if seconds else "none",
                 "; by the same rule %d of Inductor's are wrong" % judged.count(False) if judged else ""))
    lacking = {}
    for row in rows:
        for operator, _, why in row.get("left", []):
            lacking.setdefault((operator, why), set()).add(row["program"])
    for (operator, why), names in sorted(lacking.items(), key=lambda item: -len(item[1])):
        print("%3d  %s: %s (%s)" % (len(names), operator, why[:WIDTH], ", ".join(sorted(names))))


if __name__ == "__main__":
    chosen_options = options()
    if not chosen_options.table:
        run(chosen_options)
    table([row for row in read(chosen_options.store) if re.search(chosen_options.only, row["program"])])
