"""learning.py DIR: what a folder of `cawb-train ablate` says beyond its table: each variant's difference to `full` with a 95% interval over
tasks and seeds, and, of the stages, means over seeds with the least and the most.

    python bench/learn/learning.py table
"""
import math
import os
import random
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "python/cawb_learn"))

import report  # noqa: E402


def bootstrap(pairs, resamples=10000, seed=1):
    """The mean of differences by (task, seed), and its 95% interval: tasks are drawn anew, with all their seeds, and of each its seeds."""
    rng, by_task = random.Random(seed), {}
    for (task, _), difference in pairs.items():
        by_task.setdefault(task, []).append(difference)
    rows, means = list(by_task.values()), []
    for _ in range(resamples):
        drawn = [rng.choice(row) for row in (rng.choice(rows) for _ in rows) for _ in row]
        means.append(sum(drawn) / len(drawn))
    means.sort()
    below, above = (sum(m <= 0 for m in means), sum(m >= 0 for m in means))
    p = min(1.0, 2 * max(1, min(below, above)) / resamples)
    return mean(pairs.values()), means[int(0.025 * resamples)], means[int(0.975 * resamples) - 1], p


def holm(values):
    """Holm's step-down adjustment of p-values, by name."""
    order, adjusted, most = sorted(values, key=values.get), {}, 0.0
    for k, name in enumerate(order):
        most = max(most, min(1.0, (len(order) - k) * values[name]))
        adjusted[name] = most
    return adjusted


def compared(anchors, all_runs, at=8):
    """Differences of log speed-up of each variant to `full`, paired by task and seed, with intervals and Holm's p."""
    base, found = report.curves_of(all_runs.get("full", {})), {}
    for name, runs in all_runs.items():
        pairs = {key: math.log(report.gain(anchors[key[0]], curve[at - 1])) - math.log(report.gain(anchors[key[0]], base[key][at - 1]))
                 for key, curve in report.curves_of(runs).items() if key in base}
        if name != "full" and len({task for task, _ in pairs}) >= 3:      # an interval over fewer tasks says nothing
            found[name] = bootstrap(pairs)
    adjusted = holm({name: p for name, (_, _, _, p) in found.items()})
    return ["| %s | %+.3f [%+.3f, %+.3f] | %.3f |" % (name, mean, lo, hi, adjusted[name]) for name, (mean, lo, hi, _) in found.items()]


def mean(values):
    values = list(values)
    return sum(values) / len(values)


def spread(values):
    """The mean of seeds, with the least and the most."""
    values = list(values)
    return "%.2f (%.2f to %.2f)" % (mean(values), min(values), max(values)) if values else "-"


STAGE_4 = {"explained variance at the first step": lambda rows: rows[0]["explained"], "entropy, first step": lambda rows: rows[0]["entropy"],
           "20th or last": lambda rows: rows[min(19, len(rows) - 1)]["entropy"], "ratio p99.9, largest": lambda rows: max(r["ratio_p99.9"] for r in rows),
           "unreadable turns, last five": lambda rows: mean(r["unreadable"] for r in rows[-5:]),
           "paid, first five": lambda rows: mean(r["paid"] for r in rows[:5]), "last five": lambda rows: mean(r["paid"] for r in rows[-5:])}


def stages_table(all_runs):
    """Of stage 2 what was kept, and stage 4 by its log."""
    lines = ["| variant | seeds | kept by RFT, of all | %s |" % " | ".join(STAGE_4), "|---|---|---|" + "---|" * len(STAGE_4)]
    for name, runs in all_runs.items():
        kept = [r["kept"] / max(1, r["trajectories"]) for run in runs.values() for r in run["log"] if "kept" in r]
        logs = [rows for rows in ([r for r in run["log"] if r["stage"] == "agentic"] for run in runs.values()) if rows]
        cells = [spread(of(rows) for rows in logs) for of in STAGE_4.values()]
        lines.append("| %s | %d | %s | %s |" % (name, len(runs), spread(kept), " | ".join(cells)))
    return lines


def main(folder):
    anchors, all_runs = report.read(os.path.join(folder, "anchors.json")), report.runs_of(folder)
    if not anchors:
        raise SystemExit("%s holds no ablation: cawb-train ablate SUITE --out %s makes one" % (folder, folder))
    print("\n".join(["Log speed-up at 8 evaluations less that of `full`, paired by task and seed, 95% interval, Holm's p:", "", "| variant | difference | p |",
                     "|---|---|---|"] + compared(anchors, all_runs)
                    + ["", "Of the stages; means over seeds, in brackets the least and the most:", ""] + stages_table(all_runs)))


if __name__ == "__main__":
    main(sys.argv[1])
