"""report: what a folder of runs says: tables in Markdown on standard output and in learning.md, curves in curves.svg. Whatever was not run
is not there."""
import glob
import json
import math
import os

CURVES = ("reward", "entropy", "explained", "clipped", "ratio_p99.9", "cut")
SHOWN = (1, 4, 8, 16)


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
    return {"right": sum(bool(s) for _, s in ends) / n, "eager": sum(gain(a, s, "eager") >= 1.05 for a, s in ends) / n,
            "compile": sum(gain(a, s) >= 1.05 for a, s in ends) / n, "geomean": math.exp(sum(math.log(gain(a, s)) for a, s in ends) / n),
            "share": sum(a["best"] / s if s else 0.0 for a, s in ends) / n}


def curves_of(runs):
    return {(task, seed): curve for seed, run in runs.items() for task, curve in run["test"].items()}


def searches_of(folder):
    """Curves of the searches, by their name."""
    found = {}
    for path in sorted(glob.glob(os.path.join(folder, "searches", "*.json"))):
        one = read(path)
        for name in ("random", "evolution", "evolution from default"):
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


def compared(anchors, all_runs, at=8):
    """Differences of log speed-up of each variant to `full`, paired by task and seed, with intervals and Holm's p."""
    import ablate
    if "full" not in all_runs:
        return []
    base, found = curves_of(all_runs["full"]), {}
    for name, runs in all_runs.items():
        other = curves_of(runs)
        pairs = {key: math.log(gain(anchors[key[0]], other[key][at - 1])) - math.log(gain(anchors[key[0]], base[key][at - 1]))
                 for key in other if key in base}
        if name != "full" and len({task for task, _ in pairs}) >= 3:      # an interval over fewer tasks says nothing
            found[name] = ablate.bootstrap(pairs)
    adjusted = ablate.holm({name: p for name, (_, _, _, p) in found.items()})
    return ["| %s | %+.3f [%+.3f, %+.3f] | %.3f |" % (name, mean, lo, hi, adjusted[name]) for name, (mean, lo, hi, _) in found.items()]


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


def stages_table(all_runs):
    """What the critic knew at the first agentic step, and how entropy went in the first twenty."""
    lines = ["| variant, seed | kept by RFT | explained variance at the first agentic step | entropy, first step and 20th or last | ratio p99.9, largest |",
             "|---|---|---|---|---|"]
    for name, runs in all_runs.items():
        for seed, run in runs.items():
            rows = [r for r in run["log"] if r["stage"] == "agentic"]
            kept = next(("%d of %d" % (r["kept"], r["trajectories"]) for r in run["log"] if "kept" in r), "-")
            if rows:
                lines.append("| %s, %d | %s | %.2f | %.2f, %.2f | %.2f |" % (name, seed, kept, rows[0]["explained"], rows[0]["entropy"],
                             rows[min(19, len(rows) - 1)]["entropy"], max(r["ratio_p99.9"] for r in rows)))
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
    lines += table(dict({name: curves_of(runs) for name, runs in all_runs.items()}, **searches_of(folder)), anchors, (*SHOWN, 64))
    lines += ["", "Log speed-up at 8 evaluations less that of `full`, paired by task and seed, 95% interval, Holm's p:", "",
              "| variant | difference | p |", "|---|---|---|"] + compared(anchors, all_runs) + [""] + stages_table(all_runs)
    text = "\n".join(lines) + "\n"
    with open(os.path.join(folder, "learning.md"), "w", encoding="utf-8") as file:
        file.write(text)
    with open(os.path.join(folder, "curves.svg"), "w", encoding="utf-8") as file:
        file.write(drawing(all_runs))
    print(text, end="")
