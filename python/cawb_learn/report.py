"""report: what a folder of runs says: a table in Markdown on standard output and in learning.md, and curves of each run's stage 4 in
curves.svg. Whatever was not run is not there. bench/learn/learning.py has the differences with their intervals."""
import glob
import json
import math
import os

import knobs

CURVES = ("reward", "paid", "entropy", "explained", "clipped", "ratio_p99.9", "unreadable")


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


def gain(anchor, seconds):
    """The speed-up over torch.compile of a program of so many seconds."""
    return anchor["compile"] * anchor["seconds"] / seconds


def figures(anchors, curves, evaluations):
    """Of {(task, seed): curve}, as text: faster than compile by 5%, geometric mean against it, mean share of the best known."""
    ends = [(anchors[task], curve[evaluations - 1]) for (task, _), curve in curves.items() if len(curve) >= evaluations]
    if not ends:
        return "-"
    gains = [gain(*one) for one in ends]
    return "%.0f%%, %.2fx, %.2f" % (100 * sum(g >= 1 + knobs.MARGIN for g in gains) / len(ends), math.exp(sum(map(math.log, gains)) / len(ends)),
                                   sum(anchor["best"] / seconds for anchor, seconds in ends) / len(ends))


def curves_of(runs):
    return {(task, seed): curve for seed, run in runs.items() for task, curve in run["test"].items()}


def searches_of(folder):
    """Curves of the searches, by their name."""
    found = {}
    for path in sorted(glob.glob(os.path.join(folder, "searches", "*.json"))):
        one = read(path)
        for name in ("evolution", "random edits"):
            found.setdefault(name, {})[(one["task"], 0)] = one[name]
        found.setdefault("compose's own schedule", {})[(one["task"], 0)] = [one["default"]["seconds"]] * 64
    return found


def table(rows, anchors, at):
    lines = ["| | " + " | ".join("%d" % n for n in at) + " |", "|---|" + "---|" * len(at)]
    return lines + ["| %s | %s |" % (name, " | ".join(figures(anchors, curves, n) for n in at)) for name, curves in rows.items()]


def _curve(values, left, top):
    """Values as a line of 160 by 70, with the least and the most of them."""
    least, most = min(values), max(values)
    places = ["%.1f,%.1f" % (left + 160 * k / max(1, len(values) - 1), top + 70 * (1 - (v - least) / ((most - least) or 1.0))) for k, v in enumerate(values)]
    return ('<polyline fill="none" stroke="#2266aa" decisions="%s"/><text x="%d" y="%d" font-size="9">%.3g to %.3g, %d steps</text>'
            % (" ".join(places), left, top + 84, least, most, len(values)))


def drawing(all_runs):
    """A row of curves for each run."""
    rows, parts = [("%s, seed %d" % (name, seed), run["log"]) for name, runs in all_runs.items() for seed, run in runs.items()], []
    for row, (name, log) in enumerate(rows):
        for column, curve in enumerate(CURVES):
            values, left, top = [r[curve] for r in log if r["stage"] == "agentic" and curve in r], 20 + column * 190, 40 + row * 120
            parts.append('<text x="%d" y="%d" font-size="11">%s: %s</text>' % (left, top - 6, name, curve))
            parts += [_curve(values, left, top)] if values else []
    return ('<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif"><rect width="100%%" height="100%%" fill="white"/>%s</svg>\n'
            % (40 + 190 * len(CURVES), 60 + 120 * len(rows), "".join(parts)))


def main(folder):
    setting, anchors, all_runs = read(os.path.join(folder, "setting.json")), read(os.path.join(folder, "anchors.json")), runs_of(folder)
    if not setting or not anchors:
        raise SystemExit("%s holds no ablation that has come to its table: `cawb-train ablate SUITE --out %s` makes one" % (folder, folder))
    lines = ["### The staged procedure on a scale model", "",
             "%s, times are modelled, at sizes of at most %d bytes; %d processors; %d tasks learnt on, %d held out; seeds: %s." % (
                 setting["device"], setting["brief"]["scale.memory"], setting["processors"], len(setting["learn"]), len(setting["test"]),
                 ", ".join("%s %d" % (name, len(runs)) for name, runs in all_runs.items())), "",
             "Held-out tasks after so many evaluations: at least 5% faster than `torch.compile`, geometric mean against it, mean share of the",
             "best known:", ""]
    lines += table(dict({name: curves_of(runs) for name, runs in all_runs.items()}, **searches_of(folder)), anchors, (1, 4, 8, 16, 64))
    for name, text in (("learning.md", "\n".join(lines) + "\n"), ("curves.svg", drawing(all_runs))):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(text)
    print("\n".join(lines))
