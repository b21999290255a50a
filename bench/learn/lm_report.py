"""lm_report.py: what a run of `cawb-train lm` came to: the table, wrong answers by kind, the steps of PPO, and the hypotheses.

    python bench/learn/lm_report.py CORPUS DIR [--without STAGE DIR]... [--brief]

CORPUS is the folder that was learnt, DIR the run's. All is made of the samples' verdicts, DIR/results-*.jsonl, and of the logs. --brief leaves out kinds
of tasks, kinds of wrong answers, and the hypotheses.
"""
import argparse
import collections
import json
import os
import re
import sys

import lm_hypotheses

from lm import corpus, measure

STAGES = ("memory", "imitation", "imitation in turns", "single", "rft", "agentic", "agentic in turns")
KINDS = 8                         # kinds of wrong answers that are told
BEYOND = 0.97                     # a right answer that takes less of the teacher's time is looked at: it may have found a way around the judge


def line(name, row):
    """A row of the table, as the stages tell it."""
    numbers = ("%s %s" % (key, value if isinstance(value, int) else "%.3f" % value) for key, value in row.items() if isinstance(value, (int, float)))
    return "%-18s  %s" % (name, "  ".join(numbers))


def rows_of(folder, stage):
    """The samples of a stage: a row a task; none where it was not measured."""
    path = os.path.join(folder, "results-%s.jsonl" % stage)
    return corpus.lines(path) if os.path.exists(path) else []


def row_of(rows, known):
    return measure.table([row["results"] for row in rows], [row["answers"] for row in rows], known, len(rows[0]["results"]))


def table(folder, known, teacher, names, splits=True):
    """The lines of the table: the teacher's, then each stage's with its kinds of held-out tasks."""
    yield from (line(name, row) for name, row in teacher.items())
    for stage, name in zip(STAGES, names, strict=True):
        rows = rows_of(folder, stage)
        if rows:
            yield line(name, row_of(rows, known))
        for split in sorted({row["split"] for row in rows}) if splits and stage != "memory" else ():
            yield line("  of " + split, row_of([row for row in rows if row["split"] == split], known))
        outside = rows_of(folder, stage + " outside")
        if outside:
            yield line(name + " outside", row_of(outside, known))


def kind_of(result):
    """Why an answer is not right, without its numbers."""
    return "%s: %s" % (result["stage"], re.sub(r"\d+(\.\d+)?(e-?\d+)?", "N", re.sub(r" at \[.*|, as .*|;.*", "", result["reason"].split("\n")[0]))[:100])


def wrong(rows, turns):
    """Of each turn the answers that are not right, by kind."""
    for turn in range(turns):
        of = [result for row in rows for result in row["results"][turn::turns]]
        kinds = collections.Counter(kind_of(result) for result in of if not result["ok"])
        yield "  turn %d of %d: %d of %d answers are right" % (turn + 1, turns, len(of) - sum(kinds.values()), len(of)) if turns > 1 \
            else "  %d of %d answers are right" % (len(of) - sum(kinds.values()), len(of))
        yield from ("  %5d  %s" % (count, kind) for kind, count in kinds.most_common(KINDS))
        if len(kinds) > KINDS:
            yield "  %5d  others" % sum(count for _, count in kinds.most_common()[KINDS:])


def second(rows):
    """How many second answers of episodes of two turns are right, and how many repeat the first letter by letter, behind a right one and a wrong one."""
    every = [pair for row in rows for pair in zip(row["results"], row["answers"], strict=True)]
    for is_right, name in ((True, "right"), (False, "wrong")):
        told = [(two["ok"], second == first) for (one, first), (two, second) in zip(every[::2], every[1::2], strict=True) if one["ok"] == is_right]
        yield "  behind a %s first answer %d of %d second answers are right, %d repeat it" % (name, sum(ok for ok, _ in told), len(told), sum(same for _, same in told))


def steps(folder):
    """The steps of the critic and of PPO."""
    for stage in ("critic", "agentic"):
        path = os.path.join(folder, stage, "log.jsonl")
        for row in corpus.lines(path) if os.path.exists(path) else ():
            yield "  %-8s %d  %s" % (stage, row["step"] + 1, "  ".join("%s %.3f" % (key, row[key]) for key in
                                     ("reward", "right", "explained", "value_loss", "clipped", "writing_s", "judging_s", "learning_s") if key in row))


def beyond(folder, best, suffix):
    """How many right answers of a run are faster than the teacher knows how, and which tasks they are of."""
    right = [(row["task"], one["time_s"]) for stage in STAGES for row in rows_of(folder, stage) for one in row["results"] if one["ok"]]
    found = sorted({task for task, seconds in right if seconds < BEYOND * best[task]})
    return "\nof %d right answers%s %s" % (len(right), suffix, "some are 3% faster than the teacher's fastest text: " + ", ".join(found) if found
                                          else "none is 3% faster than the teacher's fastest text")


def turns_of(folder, stage):
    """How many turns an episode of a stage's samples has."""
    with open(os.path.join(folder, "run.json"), encoding="utf-8") as file:
        return json.load(file)["knobs"]["turns"] if stage.endswith("turns") else 1


def answers(folder, stage, suffix, brief):
    """What became of a stage's answers; brief: of second ones alone."""
    rows, turns = rows_of(folder, stage), turns_of(folder, stage)
    told = [*(wrong(rows, turns) if rows and not brief else ()), *(second(rows) if rows and turns == 2 else ())]
    return ["\n%s%s:" % (stage, suffix), *told] if told else []


def told(words):
    """All lines before the hypotheses."""
    known, runs = measure.known_texts(words.corpus), [("", words.folder), *((" without " + stage, folder) for stage, folder in words.without)]
    names = {row["task"] for stage in STAGES for row in rows_of(words.folder, stage)}
    teacher = measure.teacher(words.corpus, [{"name": name} for name in names])
    for suffix, folder in runs:
        yield from table(folder, known, {} if suffix else teacher, [stage + suffix for stage in STAGES], not words.brief)
    best = {task["name"]: task["best_s"] for task in corpus.tasks(words.corpus)}
    for suffix, folder in runs:
        yield beyond(folder, best, suffix)
        for stage in STAGES[1:]:
            yield from answers(folder, stage, suffix, words.brief)
        yield "\nsteps of episodes%s:" % suffix
        yield from steps(folder)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus")
    parser.add_argument("folder")
    parser.add_argument("--without", nargs=2, action="append", default=[], metavar=("STAGE", "DIR"))
    parser.add_argument("--brief", action="store_true")
    given = parser.parse_args()
    print("\n".join(told(given)))
    if given.brief:
        sys.exit()
    print()
    lm_hypotheses.main(lm_hypotheses.words([given.folder, *(word for pair in given.without for word in ("--without", *pair))]))
