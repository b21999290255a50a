"""learning.py DIR: the hypotheses about the staged procedure that were fixed ahead of any run (docs/howto/train.md), with what an
ablation's folder says of each: ratios of speed-ups with 95% intervals over tasks and seeds, means over seeds with the least and the
most; ahead of them each variant's difference to `full`. `cawb-train ablate` fills the folder; what was not run is called so. Draws the
curves of stage 4 into DIR/curves.svg.

    python bench/learn/learning.py table
"""
import math
import os
import random
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "python/cawb_learn"))

import report  # noqa: E402

CURVES = ("reward", "entropy", "explained", "clipped", "ratio_p99.9", "cut")


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
    everything = [difference for row in rows for difference in row]
    below, above = (sum(m <= 0 for m in means), sum(m >= 0 for m in means))
    p = min(1.0, 2 * max(1, min(below, above)) / resamples)
    return sum(everything) / len(everything), means[int(0.025 * resamples)], means[int(0.975 * resamples) - 1], p


def holm(values):
    """Holm's step-down adjustment of p-values, by name."""
    order, adjusted, most = sorted(values, key=values.get), {}, 0.0
    for k, name in enumerate(order):
        most = max(most, min(1.0, (len(order) - k) * values[name]))
        adjusted[name] = most
    return adjusted


def compared(anchors, all_runs, at=8):
    """Differences of log speed-up of each variant to `full`, paired by task and seed, with intervals and Holm's p."""
    if "full" not in all_runs:
        return []
    base, found = report.curves_of(all_runs["full"]), {}
    for name, runs in all_runs.items():
        other = report.curves_of(runs)
        pairs = {key: math.log(report.gain(anchors[key[0]], other[key][at - 1])) - math.log(report.gain(anchors[key[0]], base[key][at - 1]))
                 for key in other if key in base}
        if name != "full" and len({task for task, _ in pairs}) >= 3:      # an interval over fewer tasks says nothing
            found[name] = bootstrap(pairs)
    adjusted = holm({name: p for name, (_, _, _, p) in found.items()})
    return ["| %s | %+.3f [%+.3f, %+.3f] | %.3f |" % (name, mean, lo, hi, adjusted[name]) for name, (mean, lo, hi, _) in found.items()]


def ahead(anchors, one, at, other, other_at):
    """Log speed-up of one at so many evaluations less the other's, whose seeds are averaged, as a ratio with its interval."""
    rest = {}
    for (task, _), curve in (other or {}).items():
        if len(curve) >= other_at:
            rest.setdefault(task, []).append(math.log(report.gain(anchors[task], curve[other_at - 1])))
    pairs = {key: math.log(report.gain(anchors[key[0]], curve[at - 1])) - sum(rest[key[0]]) / len(rest[key[0]])
             for key, curve in (one or {}).items() if key[0] in rest and len(curve) >= at}
    if len({task for task, _ in pairs}) < 3:
        return "not run on three tasks"
    mean, lo, hi, _ = bootstrap(pairs)
    return "%.3fx [%.3f, %.3f], %d tasks, %d seeds" % (math.exp(mean), math.exp(lo), math.exp(hi), len({task for task, _ in pairs}),
                                                       len({seed for _, seed in pairs}))


def faster(anchors, one, at, other, other_at):
    """Shares of tasks and seeds that are at least 5% faster than torch.compile, the other's beside it."""
    found = [report.figures(anchors, curves or {}, evaluations) for curves, evaluations in ((one, at), (other, other_at))]
    return "%.0f%% against %.0f%%" % tuple(100 * f["compile"] for f in found) if all(found) else "not run"


def share(anchors, one, at, other, other_at):
    """Mean shares of the best that is known, in which what is not right counts as nothing: in a speed-up it counts as 1."""
    found = [report.figures(anchors, curves or {}, evaluations) for curves, evaluations in ((one, at), (other, other_at))]
    return "%.2f against %.2f; right %.0f%% against %.0f%%" % (*(f["share"] for f in found), *(100 * f["right"] for f in found)) if all(found) else "not run"


def mean(values):
    values = list(values)
    return sum(values) / len(values)


def spread(values, form="%.2f"):
    """The mean of seeds, with the least and the most."""
    values = list(values)
    return (form + " (" + form + " to " + form + ")") % (mean(values), min(values), max(values)) if values else "-"


def logs_of(runs, stage="agentic"):
    """A stage's steps of each seed."""
    return [rows for rows in ([r for r in run["log"] if r["stage"] == stage and r["step"] >= 0] for run in (runs or {}).values()) if rows]


def of_seeds(runs, value):
    """The mean of a figure of stage 4 over seeds, with the least and the most."""
    logs = logs_of(runs)
    return "%s, %d seeds" % (spread(value(rows) for rows in logs), len(logs)) if logs else "not run"


STAGE_4 = {"explained variance at the first step": lambda rows: rows[0]["explained"], "entropy, first step": lambda rows: rows[0]["entropy"],
           "20th or last": lambda rows: rows[min(19, len(rows) - 1)]["entropy"], "ratio p99.9, largest": lambda rows: max(r["ratio_p99.9"] for r in rows),
           "unreadable turns, last five": lambda rows: mean(r["unreadable"] for r in rows[-5:]),
           "paid, first five": lambda rows: mean(r["paid"] for r in rows[:5]), "last five": lambda rows: mean(r["paid"] for r in rows[-5:])}


def stages_table(all_runs):
    """Of stage 2 what was kept, and stage 4 by its log."""
    lines = ["| variant | seeds | kept by RFT, of all | %s |" % " | ".join(STAGE_4), "|---|---|---|" + "---|" * len(STAGE_4)]
    for name, runs in all_runs.items():
        kept = [r["kept"] / max(1, r["trajectories"]) for run in runs.values() for r in run["log"] if "kept" in r]
        cells = [spread(of(rows) for rows in logs_of(runs)) for of in STAGE_4.values()]
        lines.append("| %s | %d | %s | %s |" % (name, len(runs), spread(kept), " | ".join(cells)))
    return lines


def answers(anchors, all_runs, searches):
    curves = {name: report.curves_of(runs) for name, runs in all_runs.items()}
    full, get = curves.get("full"), curves.get
    lines = ["| hypothesis | figures |", "|---|---|"]
    for name in ("evolution", "evolution from default", "random edits", "random"):
        lines.append("| H1: `full` at 8 over %s at 64, geometric mean | %s |" % (name, ahead(anchors, full, 8, searches.get(name), 64)))
        lines.append("| H1: the same, faster than compile | %s |" % faster(anchors, full, 8, searches.get(name), 64))
        lines.append("| H1: the same, mean share of the best known | %s |" % share(anchors, full, 8, searches.get(name), 64))
    for name in ("own reward", "paid at the end", "coarse", "legal", "legal and larger", "whole", *(name for name in curves if name.startswith("exact"))):
        lines.append("| H1 with a change: `%s` at 8 over evolution at 64 | %s; faster than compile %s |"
                     % (name, ahead(anchors, get(name), 8, searches.get("evolution"), 64), faster(anchors, get(name), 8, searches.get("evolution"), 64)))
        lines.append("| H1 with this change: mean share of the best known | %s |" % share(anchors, get(name), 8, searches.get("evolution"), 64))
    for name in ("full", "no value pre-training"):
        lines.append("| H2: explained variance at the first agentic step, %s | %s |" % (name, of_seeds(all_runs.get(name), lambda rows: rows[0]["explained"])))
    lines.append("| H3: `full` at 4 over `no loop` at 4 | %s |" % ahead(anchors, full, 4, get("no loop"), 4))
    for name in ("tiers", "raw speed-up"):
        lines.append("| H4: log (`full`) over %s, both at 8 | %s |" % (name, ahead(anchors, full, 8, get(name), 8)))
    for name in ("full", "no RFT", "rare", "rare without RFT"):
        lines.append("| H5: rise of entropy in 20 agentic steps, %s | %s |" % (name, of_seeds(all_runs.get(name), lambda rows:
                     rows[min(19, len(rows) - 1)]["entropy"] - rows[0]["entropy"])))
    return lines


# ---- curves, as a drawing of one's own

def _path(values, left, top, width, height):
    least, most = min(values), max(values)
    spread = (most - least) or 1.0
    places = ["%.1f,%.1f" % (left + width * k / max(1, len(values) - 1), top + height * (1 - (v - least) / spread))
              for k, v in enumerate(values)]
    return least, most, '<polyline fill="none" stroke="#2266aa" points="%s"/>' % " ".join(places)


def drawing(all_runs):
    """Each curve of stage 4 of each variant's first seed."""
    parts, names = [], sorted(all_runs)
    for row, name in enumerate(names):
        rows = [r for r in all_runs[name][min(all_runs[name])]["log"] if r["stage"] == "agentic"]
        for column, curve in enumerate(CURVES):
            values = [r[curve] for r in rows if r.get(curve) is not None]
            left, top = 20 + column * 190, 40 + row * 120
            parts.append('<text x="%d" y="%d" font-size="11">%s: %s</text>' % (left, top - 6, name, curve))
            if values:
                least, most, path = _path(values, left, top, 160, 70)
                parts += [path, '<text x="%d" y="%d" font-size="9">%.3g to %.3g, %d steps</text>' % (left, top + 84, least, most, len(values))]
    return ('<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif"><rect width="100%%" height="100%%" '
            'fill="white"/>%s</svg>\n' % (40 + 190 * len(CURVES), 60 + 120 * len(names), "".join(parts)))


def main(folder):
    anchors, all_runs = report.read(os.path.join(folder, "anchors.json")), report.runs_of(folder)
    if not anchors:
        raise SystemExit("%s holds no ablation: cawb-train ablate SUITE --out %s makes one" % (folder, folder))
    with open(os.path.join(folder, "curves.svg"), "w", encoding="utf-8") as file:
        file.write(drawing(all_runs))
    print("\n".join(["Log speed-up at 8 evaluations less that of `full`, paired by task and seed, 95% interval, Holm's p:", "", "| variant | difference | p |",
                     "|---|---|---|"] + compared(anchors, all_runs)
                    + ["", "Of the stages; means over seeds, in brackets the least and the most:", ""] + stages_table(all_runs) + [""] + answers(anchors, all_runs, report.searches_of(folder))))


if __name__ == "__main__":
    main(sys.argv[1])
