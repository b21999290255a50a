"""hardness.py SUITE [--tasks N] [--draws N] [--minutes M] [--out DIR]: how hard it is to find a good schedule by drawing, in the language
that `python/cawb_learn/` learns, on the tasks of a suite at the small sizes that it learns on. For each task programs are drawn evenly in the
sound and in the free language, and evolution starts from compose's own; the best that any of these found stands for the best.
What was evaluated is kept in --out: the command goes on where it was left. Prints the table of bench/results/learn/hardness_sim.md.

    CAWB_PROGRAM=build/release/bin/cawb python bench/learn/hardness.py ops/tasks.jsonl --tasks 100 > bench/results/learn/hardness_sim.md
"""
import argparse
import concurrent.futures
import contextlib
import datetime
import math
import os
import random
import re
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(ROOT, "python/cawb_learn")]

import client  # noqa: E402
import lang  # noqa: E402
import search  # noqa: E402

DRAWS = (1, 4, 16, 64)
MANY = 8                            # decisions; tasks with more of them are shown apart, too


def read(one, task, draws, evolution, of_sound):
    """Curves of one task in both languages, and what its random programs were."""
    sound, free = one
    found = {"decisions": len(free.decisions(task)), "members": members(sound.decisions(task)), "default": sound.default(task)["seconds"],
             "sound": search.drawn(sound, task, of_sound), "free": search.drawn(free, task, draws),
             "evolution": search.evolution(sound, task, evolution, start=lang.default(sound.decisions(task)))}
    found["stages"] = [result["stage"] for result in verdicts(free, task, draws)]
    found["invalid"] = sum(not result["ok"] for result in verdicts(sound, task, of_sound)) / of_sound
    return found


def verdicts(tasks, task, draws):
    rng = random.Random("%s %d" % (task, 0))
    return tasks.score([(task, tasks.random(task, rng)) for _ in range(draws)])


def members(decisions):
    return math.prod(len(decision["values"]) for decision in decisions)


def best_of(found):
    curves = [found["sound"], found["free"], found["evolution"]]
    return min([found["default"]] + [curve[-1] for curve in curves if curve[-1] is not None])


def mean(values):
    values = list(values)
    return sum(values) / len(values)


def median(values):
    values = sorted(values)
    return (values[(len(values) - 1) // 2] + values[len(values) // 2]) / 2


def shares(all_found, name, draws):
    """The mean share of the best known after so many draws; nothing right is 0."""
    rows = [(found[name][draws - 1], best_of(found)) for found in all_found]
    return [best / seconds if seconds else 0.0 for seconds, best in rows]


def table(all_found, draws):
    at = [n for n in DRAWS if n <= draws]
    print("| | " + " | ".join("%d" % n for n in at) + " |\n|---|" + "---|" * len(at))
    for name, label in (("sound", "random programs, sound language"), ("free", "random programs, free language"),
                        ("evolution", "evolution in the sound language, from compose's own")):
        cells = []
        for n in at:
            values = shares(all_found, name, n) if n <= min(len(found[name]) for found in all_found) else None
            cells.append("%.2f (median %.2f)" % (mean(values), median(values)) if values else "-")
        print("| %s | %s |" % (label, " | ".join(cells)))
    own = [best_of(found) / found["default"] for found in all_found]
    print("| compose's own schedule | %.2f (median %.2f) |" % (mean(own), median(own)) + " |" * (len(at) - 1))


def failures(all_found):
    stages = [stage for found in all_found for stage in found["stages"]]
    bad = [stage for stage in stages if stage != "pass"]
    each = ", ".join("%s %.0f%%" % (name, 100 * bad.count(name) / len(stages)) for name in sorted(set(bad)))
    print("\nOf %d random programs of the free language %.0f%% fail (%s); of the sound language %.1f%%."
          % (len(stages), 100 * len(bad) / len(stages), each, 100 * mean(found["invalid"] for found in all_found)))
    counts = sorted(found["members"] for found in all_found)
    print("Programs of the sound language for a task: median %.0f, from %.0f to %.3g. Decisions of the free language: median %.0f, at most %d."
          % (median(counts), counts[0], counts[-1], median(found["decisions"] for found in all_found),
             max(found["decisions"] for found in all_found)))


def one(both, task, args, ends):
    """One task in both languages; {} where there are too few decisions, None where there is no time to look."""
    if time.monotonic() > ends:
        return None
    if not both[0].decisions(task["key"]) or len(both[1].decisions(task["key"])) <= args.least:
        return {}
    began = time.monotonic()
    found = read(both, task["key"], args.draws, args.evolution, args.sound or args.draws)
    print("%s %s %d decisions, %d of %d programs failed, %.2f s" % (task["key"], task["name"], found["decisions"],
          sum(stage != "pass" for stage in found["stages"]), args.draws, time.monotonic() - began), file=sys.stderr, flush=True)
    return found


def measure(args):
    ends = time.monotonic() + 60 * args.minutes
    with contextlib.ExitStack() as held:
        envs = [held.enter_context(client.serve(args.suite, os.path.join(args.out, "serve-%d" % k), args.places, resident=args.resident,
                                                  options={"scale.memory": args.memory, "scale.operations": args.operations}))
                for k in range(args.servers)]
        pool = held.enter_context(concurrent.futures.ThreadPoolExecutor(args.at_once))
        both = [client.Tasks(envs, os.path.join(args.out, "memo-%s.jsonl" % name), free) for name, free in (("sound", False), ("free", True))]
        tasks = [t for t in envs[0].tasks() if not re.search(args.without, t["name"])][:args.tasks]
        looked = [found for found in pool.map(lambda task: one(both, task, args, ends), tasks) if found is not None]
        for each in both:
            each.close()
    return [found for found in looked if found], len(looked)


def main():
    words = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    words.add_argument("suite")
    words.add_argument("--tasks", type=int, default=100)
    words.add_argument("--without", default="Transformer|Attention|LSTM|GRU|RNN|Conv", help="names of tasks that take too long")
    words.add_argument("--draws", type=int, default=64)
    words.add_argument("--evolution", type=int, default=64)
    words.add_argument("--sound", type=int, default=0, help="draws in the sound language, if fewer: all of its programs are right and cost the most")
    words.add_argument("--minutes", type=float, default=600)
    words.add_argument("--least", type=int, default=0, help="tasks with so many decisions or fewer in the free language are left out")
    words.add_argument("--servers", type=int, default=1, help="each evaluates tasks of its own, in so many places")
    words.add_argument("--places", type=int, default=2)
    words.add_argument("--at-once", type=int, default=1, help="tasks")
    words.add_argument("--resident", type=int, default=8, help="tasks that a place keeps loaded")
    words.add_argument("--memory", type=int, default=client.BRIEF["scale.memory"], help="bytes of a task's inputs and outputs at most")
    words.add_argument("--operations", type=int, default=client.BRIEF["scale.operations"], help="of a task, at most")
    words.add_argument("--out", default="cawb-hardness")
    args = words.parse_args()
    all_found, seen = measure(args)
    print("### Finding a schedule by drawing\n\ncawb, sim:h100, times are modelled, %s; %d processors. %d tasks of `cawb synth` were looked at, in"
          " the suite's order without those that match %s; on %d of them compose's own schedule is right and more than %d things are to be decided in the free language. Sizes of at most"
          " %d bytes and %d operations. Shares of the best known after so many evaluations, mean over tasks:\n"
          % (datetime.date.today().isoformat(), os.cpu_count(), seen, args.without, len(all_found), args.least, args.memory, args.operations))
    table(all_found, args.draws)
    failures(all_found)
    many = [found for found in all_found if found["decisions"] > MANY]
    if many and len(many) < len(all_found):
        print("\nThe same for the %d tasks with more than %d decisions in the free language:\n" % (len(many), MANY))
        table(many, args.draws)
        failures(many)


if __name__ == "__main__":
    main()
