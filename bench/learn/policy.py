"""policy.py SUITE CHECKPOINT: a trained checkpoint (python/cawb_learn/) on tasks that it was not trained for, beside compose's own schedule, random
programs and evolution from compose's own, at equal numbers of evaluations, in the language that it learnt. What was evaluated is kept
in --out: the command goes on where it was left. --tuner adds what bench/learn/policy/tuner.lua found for the same tasks. Prints a table.

    CAWB_PROGRAM=build/release/bin/cawb python bench/learn/policy.py shared/kernelbench/dev.jsonl table/runs/full-0/stage-agentic.pt
"""
import argparse
import concurrent.futures
import contextlib
import json
import os
import re
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(ROOT, "python/cawb_learn")]

import torch  # noqa: E402

import client  # noqa: E402
import lang  # noqa: E402
import policy  # noqa: E402
import report  # noqa: E402
import search  # noqa: E402
import stages  # noqa: E402


def methods(knobs, actor, tasks, operators, task, evaluations):
    """Curves of one task by method; None where compose's own is not right, or nothing is to be decided."""
    decisions = tasks.decisions(task)
    if not decisions:
        return None
    own = tasks.default(task)
    return {"policy": stages.curve(knobs, actor, tasks, operators, task, evaluations),
            "random programs": search.drawn(tasks, task, evaluations),
            "evolution from compose's own": search.evolution(tasks, task, evaluations, start=lang.default(decisions)),
            "compose's own schedule": [own["seconds"]] * evaluations}


def tuned(path, found, evaluations):
    """The tasks that the tuner has a curve of, with it: its gains over compose's own schedule, which its first measurement is of."""
    with open(path, encoding="utf-8") as file:
        lines = {one["task"]: one["curve"] for one in map(json.loads, file)}
    with_it = {}
    for task, (curves, own) in found.items():
        if lines.get(task):
            curve = [own["seconds"] * seconds / lines[task][0] for seconds in lines[task]]
            with_it[task] = dict(curves, tuner=(curve + curve[-1:] * evaluations)[:evaluations]), own
    return with_it


def measured(args, knobs, actor):
    """{task: curves} and anchors."""
    ends, found = time.monotonic() + 60 * args.minutes, {}
    options = {"scale.memory": args.memory, "scale.operations": args.operations}
    with contextlib.ExitStack() as held:
        envs = [held.enter_context(client.serve(args.suite, os.path.join(args.out, "serve-%d" % k), 1, options=options, resident=2))
                for k in range(args.servers)]
        tasks = client.Tasks(envs, os.path.join(args.out, "memo.jsonl"), knobs["free"])
        all_of = [task for task in envs[0].tasks() if not re.search(args.without, task["name"])]
        # Names of a suite's files say no operators: these tokens are then what their names are made of.
        operators = {task["key"]: task["name"].split("+") for task in all_of}

        def one(task):
            if time.monotonic() > ends:
                return
            try:
                curves = methods(knobs, actor, tasks, operators, task["key"], args.evaluations)
            except (client.cawb.Failed, KeyError) as error:
                print("%s: %s" % (task["name"], error), file=sys.stderr, flush=True)
                return
            if curves:
                found[task["key"]] = curves, tasks.default(task["key"])
                print("%s: %s" % (task["name"], {name: curve[-1] for name, curve in curves.items()}), file=sys.stderr, flush=True)

        with concurrent.futures.ThreadPoolExecutor(args.servers) as pool:
            list(pool.map(one, all_of))
        tasks.close()
    return found, len(all_of)


def main():
    words = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    words.add_argument("suite")
    words.add_argument("checkpoint")
    words.add_argument("--out", default="cawb-policy")
    words.add_argument("--evaluations", type=int, default=8)
    words.add_argument("--servers", type=int, default=1)
    words.add_argument("--minutes", type=float, default=600)
    words.add_argument("--memory", type=int, default=1 << 17)
    words.add_argument("--operations", type=int, default=1000000)
    words.add_argument("--tuner", help="what bench/learn/policy/tuner.lua wrote of the same suite at the same sizes; tasks without it are left out")
    words.add_argument("--without", default="$^", help="names of tasks that take too long")
    args = words.parse_args()
    torch.set_num_threads(1)
    found, seen = measured(args, *policy.load(args.checkpoint))
    found = tuned(args.tuner, found, args.evaluations) if args.tuner else found
    anchors = {task: dict(own, best=min([own["seconds"]] + [c[-1] for c in curves.values() if c[-1]])) for task, (curves, own) in found.items()}
    rows = {}
    for task, (curves, _) in found.items():
        for name, curve in curves.items():
            rows.setdefault(name, {})[(task, 0)] = curve
    print("sim:h100, times are modelled, at sizes of at most %d bytes; %d of %d tasks were looked at and have something to be decided. Right, at least 5%% faster"
          " than `torch.compile`, geometric mean against it (what is not right counts as 1), mean share of the best of these, after so many"
          " evaluations:\n" % (args.memory, len(found), seen))
    print("\n".join(report.table(rows, anchors, [n for n in (1, 2, 4, 8, 16) if n <= args.evaluations])))


if __name__ == "__main__":
    main()
