"""report: what a folder of runs says: tables in Markdown on standard output and in learning.md. Whatever was not run is not there.
bench/learn/learning.py has what is compared with what, and the curves."""
import glob
import json
import math
import os

import knobs


def read(path, otherwise=None):
    if not os.path.exists(path):
        return otherwise
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def runs_of(folder):
    """{variant: {seed: {"test": curves, "log": rows}}} of what has ended."""
    found = {}
    for path in sorted(glob.glob(os.path.join(folder, "runs", "*", "test.json"))):
        name, _, seed = os.path.basename(os.path.dirname(path)).rpartition("-")
        with open(os.path.join(os.path.dirname(path), "log.jsonl"), encoding="utf-8") as file:
            rows = [json.loads(line) for line in file]
        found.setdefault(name.replace("_", " "), {})[int(seed)] = {"test": read(path), "log": rows}
    return found


def gain(anchor, seconds, against="compile"):
    """The speed-up of a program of so many seconds; what is not right counts as 1."""
    return anchor[against] * anchor["seconds"] / seconds if seconds else 1.0


def figures(anchors, curves, evaluations):
    """Of {(task, seed): curve}: share right, faster than compile by 5%, geometric mean of all, mean share of the best known."""
    ends = [(anchors[task], curve[evaluations - 1]) for (task, _), curve in curves.items() if len(curve) >= evaluations]
    if not ends:
        return None
    n = len(ends)
    return {"right": sum(bool(s) for _, s in ends) / n, "eager": sum(gain(a, s, "eager") >= 1 + knobs.MARGIN for a, s in ends) / n,
            "compile": sum(gain(a, s) >= 1 + knobs.MARGIN for a, s in ends) / n, "geomean": math.exp(sum(math.log(gain(a, s)) for a, s in ends) / n),
            "share": sum(a["best"] / s if s else 0.0 for a, s in ends) / n}


def curves_of(runs):
    return {(task, seed): curve for seed, run in runs.items() for task, curve in run["test"].items()}


def searches_of(folder):
    """Curves of the searches, by their name."""
    found = {}
    for path in sorted(glob.glob(os.path.join(folder, "searches", "*.json"))):
        one = read(path)
        for name in ("random", "evolution", "evolution from default", "random edits"):
            found.setdefault(name, {})[(one["task"], one["seed"])] = one[name]
        found.setdefault("compose's own schedule", {})[(one["task"], one["seed"])] = [one["default"]["seconds"]] * 64
    return found


def table(rows, anchors, at):
    lines = ["| | " + " | ".join("%d" % n for n in at) + " |", "|---|" + "---|" * len(at)]
    for name, curves in rows.items():
        cells = []
        for n in at:
            f = figures(anchors, curves, n)
            cells.append("%.0f%%, %.0f%%, %.2fx, %.2f" % (100 * f["right"], 100 * f["compile"], f["geomean"], f["share"]) if f else "-")
        lines.append("| %s | %s |" % (name, " | ".join(cells)))
    return lines


def main(folder):
    setting, anchors, all_runs = read(os.path.join(folder, "setting.json")), read(os.path.join(folder, "anchors.json")), runs_of(folder)
    if not setting or not anchors:
        raise SystemExit("%s holds no ablation that has come to its table: `train ablate SUITE --out %s` makes one" % (folder, folder))
    lines = ["### The staged procedure on a scale model", "",
             "%s, times are modelled, at sizes of at most %d bytes; %d processors; %d tasks learnt on, %d held out; seeds: %s." % (
                 setting["device"], setting["brief"]["scale.memory"], setting["processors"], len(setting["learn"]), len(setting["test"]),
                 ", ".join("%s %d" % (name, len(runs)) for name, runs in all_runs.items())), "",
             "Held-out tasks after so many evaluations: right, at least 5% faster than `torch.compile`, geometric mean against it",
             "(what is not right counts as 1), mean share of the best known:", ""]
    lines += table(dict({name: curves_of(runs) for name, runs in all_runs.items()}, **searches_of(folder)), anchors, (1, 4, 8, 16, 64))
    text = "\n".join(lines) + "\n"
    with open(os.path.join(folder, "learning.md"), "w", encoding="utf-8") as file:
        file.write(text)
    print(text, end="")
