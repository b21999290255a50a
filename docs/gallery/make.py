"""make.py SITE-SOURCE: the gallery's pages, of bench/results/door/gallery.jsonl, into a copy of the checkout that a site is built of
(./bootstrap docs). Nothing is typed in: every word and number of a page is of that file.
"""
import html
import json
import pathlib
import sys


def name_of(row):
    return pathlib.PurePosixPath(row["task"]).stem


def microseconds(seconds):
    return "%.3g us" % (1e6 * seconds) if seconds else "-"


def error(value):
    return "%.1e" % value if value is not None else "-"


def times(value):
    return "%.2fx" % value if value else "-"


def fence(lines, kind=""):
    return "```%s\n%s\n```" % (kind, "\n".join(lines) if isinstance(lines, list) else lines.rstrip())


def verdict(row):
    if not row["ok"]:
        return "wrong: " + row.get("reason", "")
    return {"faster": "right, and faster than PyTorch", "right": "right, and not faster than PyTorch"}.get(row["verdict"], row["verdict"])


def page(row):
    """One task, as Markdown."""
    facts = [("verdict", verdict(row)), ("time", "%s modelled, %s" % (microseconds(row["seconds"]), row["device"]) if row.get("seconds") else "-"),
             ("over eager PyTorch", times(row.get("eager"))), ("over torch.compile", times(row.get("compile"))),
             ("rms error", "%s, eager PyTorch's %s" % (error(row.get("error")), error(row.get("eager_error")))),
             ("limited by", row.get("limiter", "-")), ("sizes", row.get("note") or "the task's own, for verdict and time")]
    table = "\n".join("| %s | %s |" % (head, html.escape(str(text), quote=False).replace("|", "\\|")) for head, text in facts)
    return "\n\n".join([
        "# %s" % name_of(row), "[%s](../../%s). [All tasks](README.md)" % (row["task"], row["task"]), "| | |\n|---|---|\n" + table,
        "## Kernels", fence(row["kernels"], "text"), "## Graph", fence(row["graph"], "text"), "## Task", fence(row["source"], "python")]) + "\n"


def index(rows):
    lines = ["| task | verdict | time, modelled | over eager | over torch.compile | rms error |", "|---|---|---|---|---|---|"]
    for row in rows:
        lines.append("| [%s](%s.md) | %s | %s | %s | %s | %s |" % (
            name_of(row), name_of(row), "right" if row["ok"] else "wrong", microseconds(row.get("seconds")), times(row.get("eager")),
            times(row.get("compile")), error(row.get("error"))))
    return "\n## The tasks\n\n" + "\n".join(lines) + "\n"


def main(folder):
    root = pathlib.Path(folder)
    with open(root / "bench/results/door/gallery.jsonl", encoding="utf-8") as file:
        rows = sorted((json.loads(line) for line in file), key=lambda row: row["task"])
    gallery = root / "docs/gallery"
    for row in rows:
        (gallery / (name_of(row) + ".md")).write_text(page(row), encoding="utf-8")
    with open(gallery / "README.md", "a", encoding="utf-8") as file:
        file.write(index(rows))
    return len(rows)


if __name__ == "__main__":
    print("%d tasks" % main(sys.argv[1]))
