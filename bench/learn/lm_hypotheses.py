"""lm_hypotheses.py: the hypotheses of bench/learn/lm.md, answered from folders of `cawb-train lm`, a folder for each seed.

    python bench/learn/lm_hypotheses.py DIR... [--without STAGE DIR]...

--without names the folder of a run that left a stage out; `--without log` one whose GRPO was paid by tiers, not by the logarithm of the speed-up. A
figure's interval is a bootstrap over tasks, 10,000 resamples, paired where two stages are compared; a resample's figure is the mean of its tasks and of
all seeds. p is the share of resamples in which the figure does not reach its bar: a difference has to be above it. Holm's correction is over the
hypotheses that are measured.
"""
import argparse
import json
import os
import sys

import numpy

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../python/cawb_learn"))

from lm import measure  # noqa: E402

RESAMPLES = 10000

# What is measured: a stage, a test of a result, samples; less the same of another stage, or of a run without one; the bar that it has to reach.
HYPOTHESES = {
    "H1": (("imitation", "right", 1), None, 0.50), "H2": (("imitation", "right", 8), None, 0.75),
    "H3": (("single", "faster", 1), ("imitation", "faster", 1), 0.20), "H4": (("last", "faster", 8), None, 0.40),
    "H5": (("agentic in turns", "right", 8), ("agentic", "right", 8), 0.0),
    "H6a": (("agentic", "faster", 1), ("agentic without rft", "faster", 1), 0.0),
    "H6b": (("agentic", "faster", 1), ("agentic without critic", "faster", 1), 0.0),
    "H7": (("imitation", "right", 1), ("memory", "right", 1), 0.30),
}
EXPLORATORY = {"E1": (("single", "right", 1), ("imitation", "right", 1), 0.0), "E2": (("rft", "right", 1), ("single", "right", 1), 0.0),
               "E3": (("agentic", "right", 1), ("rft", "right", 1), 0.0),
               "E4": (("single", "right", 1), ("single without log", "right", 1), 0.0),
               "E5": (("single", "faster", 1), ("single without log", "faster", 1), 0.0)}
TESTS = {"right": lambda one: one["ok"], "faster": measure.is_faster}


def results(folder, stage):
    """Verdicts by task, or None where the stage was not measured. `last`: the last stage that was."""
    if stage == "last":
        return next((found for found in (results(folder, name) for name in ("agentic", "rft", "single", "imitation")) if found), None)
    path = os.path.join(folder, "results-%s.jsonl" % stage)
    if not os.path.exists(path):
        return None
    with open(path, encoding="utf-8") as file:
        return {row["task"]: row["results"] for row in map(json.loads, file)}


def measured(runs, what):
    """Verdicts by task of each seed that has them. `runs`: folders by the stage that they left out, None for those that left none."""
    stage, _, without = what[0].partition(" without ")
    return [one for one in (results(folder, stage) for folder in runs.get(without or None, ())) if one]


def by_task(found, what, names):
    """A figure for each of the tasks: the mean of all seeds."""
    _, test, k = what
    return numpy.mean([[measure.of_k(sum(map(TESTS[test], of[name])), len(of[name]), min(k, len(of[name]))) for name in names] for of in found], axis=0)


def answered(runs, what, beside, bar):
    """The figure, its interval, p, tasks and seeds; None where it is not measured."""
    own, other = measured(runs, what), measured(runs, beside) if beside else []
    if not own or (beside and not other):
        return None
    names = sorted(set.intersection(*map(set, own + other)))
    tasks = by_task(own, what, names) - (by_task(other, beside, names) if beside else 0.0)
    drawn = numpy.random.default_rng(0).integers(0, len(tasks), (RESAMPLES, len(tasks)))
    means = tasks[drawn].mean(axis=1)
    short = means <= bar if beside else means < bar
    return tasks.mean(), *numpy.quantile(means, (0.025, 0.975)), (1 + short.sum()) / (1 + RESAMPLES), len(tasks), len(own)


def holm(values):
    """p corrected, by name."""
    corrected, least = {}, 0.0
    for rank, name in enumerate(sorted(values, key=values.get)):
        least = max(least, min(1.0, (len(values) - rank) * values[name]))
        corrected[name] = least
    return corrected


def line(name, of, found, corrected=None):
    (stage, test, k), beside, bar = of
    said = "%s %s@%d of %s%s, bar %.2f:" % (name, test, k, stage, " less that of " + beside[0] if beside else "", bar)
    if not found:
        return said + " not measured"
    figure, low, high, p, tasks, seeds = found
    p = p if corrected is None else corrected
    word = "holds" if low >= bar and p < 0.05 else "not shown" if high >= bar else "fails"
    return said + " %.3f [%.3f, %.3f], p %.4f, %d tasks, %d seed%s: %s" % (figure, low, high, p, tasks, seeds, "s" * (seeds > 1), word)


def main(runs):
    found = {name: answered(runs, *of) for name, of in HYPOTHESES.items()}
    corrected = holm({name: one[3] for name, one in found.items() if one})
    for name, of in HYPOTHESES.items():
        print(line(name, of, found[name], corrected.get(name)))
    print("exploratory, without Holm:")
    for name, of in EXPLORATORY.items():
        print(line(name, of, answered(runs, *of)))


def words(given):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", metavar="DIR", help="runs of all stages, one a seed")
    parser.add_argument("--without", nargs=2, action="append", default=[], metavar=("STAGE", "DIR"), help="a run that left this stage out")
    args = parser.parse_args(given)
    runs = {None: args.folders}
    for stage, folder in args.without:
        runs.setdefault(stage, []).append(folder)
    return runs


if __name__ == "__main__":
    main(words(sys.argv[1:]))
