"""learning.py DIR: the hypotheses about the staged procedure that were fixed ahead of any run (docs/howto/train.md), with what an
ablation's folder says of each: ratios of speed-ups with 95% intervals over tasks and seeds, means over seeds with the least and the
most. `cawb-train ablate` fills the folder; what was not run is called so.

    python bench/learning.py table
"""
import math
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "train"))

import ablate  # noqa: E402
import report  # noqa: E402


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
    mean, lo, hi, _ = ablate.bootstrap(pairs)
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


def of_seeds(runs, value):
    """The mean of a figure over seeds, with the least and the most."""
    found = [value([r for r in run["log"] if r["stage"] == "agentic"]) for run in (runs or {}).values()]
    return "%.2f (%.2f to %.2f, %d seeds)" % (sum(found) / len(found), min(found), max(found), len(found)) if found else "not run"


def answers(anchors, all_runs, searches):
    curves = {name: report.curves_of(runs) for name, runs in all_runs.items()}
    full, get = curves.get("full"), curves.get
    lines = ["| hypothesis | figures |", "|---|---|"]
    for name in ("evolution", "evolution from default", "random"):
        lines.append("| H1: `full` at 8 over %s at 64, geometric mean | %s |" % (name, ahead(anchors, full, 8, searches.get(name), 64)))
        lines.append("| H1: the same, faster than compile | %s |" % faster(anchors, full, 8, searches.get(name), 64))
        lines.append("| H1: the same, mean share of the best known | %s |" % share(anchors, full, 8, searches.get(name), 64))
    for name in ("own start", "own reward", "own start and reward"):
        lines.append("| H1 with a change: `%s` at 8 over evolution from default at 64 | %s; faster than compile %s |"
                     % (name, ahead(anchors, get(name), 8, searches.get("evolution from default"), 64),
                        faster(anchors, get(name), 8, searches.get("evolution from default"), 64)))
        lines.append("| H1 with this change: mean share of the best known | %s |" % share(anchors, get(name), 8, searches.get("evolution from default"), 64))
    for name in ("full", "no value pre-training"):
        lines.append("| H2: explained variance at the first agentic step, %s | %s |" % (name, of_seeds(all_runs.get(name), lambda rows: rows[0]["explained"])))
    lines.append("| H3: `full` at 4 over `no loop` at 4 | %s |" % ahead(anchors, full, 4, get("no loop"), 4))
    for name in ("tiers", "raw speed-up"):
        lines.append("| H4: log (`full`) over %s, both at 8 | %s |" % (name, ahead(anchors, full, 8, get(name), 8)))
    for name in ("full", "no RFT", "rare", "rare without RFT"):
        lines.append("| H5: rise of entropy in 20 agentic steps, %s | %s |" % (name, of_seeds(all_runs.get(name), lambda rows:
                     rows[min(19, len(rows) - 1)]["entropy"] - rows[0]["entropy"])))
    return lines


def main(folder):
    anchors, all_runs = report.read(os.path.join(folder, "anchors.json")), report.runs_of(folder)
    if not anchors:
        raise SystemExit("%s holds no ablation: cawb-train ablate SUITE --out %s makes one" % (folder, folder))
    print("\n".join(answers(anchors, all_runs, report.searches_of(folder))))


if __name__ == "__main__":
    main(sys.argv[1])
