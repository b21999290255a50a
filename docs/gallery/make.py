"""make.py SITE-SOURCE: the gallery's pages, of bench/results/door/gallery.jsonl, into a copy of the checkout that a site is built of
(./bootstrap docs). Nothing is typed in: every word and number of a page is of that file.
"""
import ast
import html
import json
import pathlib
import sys


def name_of(row):
    return pathlib.PurePosixPath(row["task"]).stem


def duration(seconds):
    if not seconds:
        return "-"
    return "%.3g ms" % (1e3 * seconds) if seconds >= 1e-3 else "%.3g us" % (1e6 * seconds)


def error(value):
    return "%.1e" % value if value else "-" if value is None else "0"


def times(value):
    return "%.2fx" % value if value else "-"


def fence(lines, kind=""):
    return "```%s\n%s\n```" % (kind, "\n".join(lines) if isinstance(lines, list) else lines.rstrip())


def about(row):
    """The first sentence of the task's own text."""
    text = (ast.get_docstring(ast.parse(row["source"])) or "").split("\n\n")[0]
    return html.escape(" ".join(text.split()), quote=False)


def numbered(source):
    """The lines of a source with their numbers, by which the kernels name them."""
    return ["%3d  %s" % (i + 1, line) if line else "%3d" % (i + 1) for i, line in enumerate(source.rstrip().split("\n"))]


def beside(speedup, name):
    """One speed-up in words; a difference of 5% or less counts as none."""
    word = "faster than" if speedup > 1.05 else "slower than" if speedup < 1 / 1.05 else "as fast as"
    return "%s %s" % (word, name)


def verdict(row):
    if not row["ok"]:
        return "wrong: " + row.get("reason", "")
    pairs = [(row[kind], name) for kind, name in (("eager", "eager PyTorch"), ("compile", "torch.compile")) if row.get(kind)]
    return ", ".join(["right"] + [beside(*pair) for pair in pairs])


WIDE = "---\nhide:\n  - navigation\n  - toc\n---"       # its tables need the whole width


def page(row):
    """One task, as Markdown: its source first, since kernels and graph name its lines."""
    facts = [("time", "%s modelled, %s" % (duration(row["seconds"]), row["device"]) if row.get("seconds") else "-"),
             ("over eager PyTorch", times(row.get("eager"))), ("over torch.compile", times(row.get("compile"))),
             ("rms error", "%s, eager PyTorch's %s" % (error(row.get("error")), error(row.get("eager_error")))),
             ("limited by", row.get("limiter", "-")), ("sizes", row.get("note") or "the task's own, for verdict and time")]
    table = "\n".join("| %s | %s |" % (head, html.escape(str(text), quote=False).replace("|", "\\|")) for head, text in facts)
    return "\n\n".join([
        WIDE, "# %s" % name_of(row), about(row),
        "[%s](../../%s). [All tasks](README.md)" % (row["task"], row["task"]),
        "| verdict | %s |\n|---|---|\n" % html.escape(verdict(row), quote=False).replace("|", "\\|") + table,
        "## Task", fence(numbered(row["source"]), "text"), "## Kernels", fence(row["kernels"], "text"),
        "## Graph", fence(row["graph"], "text")]) + "\n"


GROUPS = {"examples": "Examples", "examples/operators": "Operators of one's own", "bench/compose/unseen": "Tasks that the compiler was not made for"}


def index(rows):
    """All tasks, a table for each folder."""
    lines = []
    for folder, title in GROUPS.items():
        lines += ["", "## " + title, "", "| task | what it computes | verdict | time, modelled | over eager | over torch.compile | rms error |", "|---|---|---|---|---|---|---|"]
        for row in (r for r in rows if str(pathlib.PurePosixPath(r["task"]).parent) == folder):
            lines.append("| [%s](%s.md) | %s | %s | %s | %s | %s | %s |" % (
                name_of(row), name_of(row), about(row), "right" if row["ok"] else "wrong", duration(row.get("seconds")),
                times(row.get("eager")), times(row.get("compile")), error(row.get("error"))))
    return "\n".join(lines) + "\n"


def main(folder):
    root = pathlib.Path(folder)
    with open(root / "bench/results/door/gallery.jsonl", encoding="utf-8") as file:
        rows = sorted((json.loads(line) for line in file), key=lambda row: row["task"])
    gallery = root / "docs/gallery"
    for row in rows:
        (gallery / (name_of(row) + ".md")).write_text(page(row), encoding="utf-8")
    top = gallery / "README.md"
    top.write_text(WIDE + "\n\n" + top.read_text(encoding="utf-8") + index(rows), encoding="utf-8")
    return len(rows)


if __name__ == "__main__":
    print("%d tasks" % main(sys.argv[1]))
