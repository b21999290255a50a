"""slides.py OUT.html: the notebook beside this file as slides. Its cells are executed, without Jupyter; a slide begins with each heading.
One file without anything from elsewhere; arrow keys turn it, and it prints one slide a page.
"""
import ast
import contextlib
import html
import importlib.util
import io
import json
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
CLIENT = os.path.join(HERE, "..", "..", "python")          # beside it in a checkout and in an installed tree
if importlib.util.find_spec("cawb") is None and os.path.isdir(CLIENT):
    sys.path.append(CLIENT)
PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>%s</title><style>
body { margin: 0; background: #fff; color: #1c2733; font: 26px/1.4 sans-serif }
section { box-sizing: border-box; width: 100%%; min-height: 100vh; padding: 5vh 8vw; display: none; break-after: page }
section.on { display: block } h1, h2 { color: #2f6db3; margin: 0 0 .6em } code { background: #eef2f6; padding: 0 .2em }
pre { font-size: 17px; background: #eef2f6; padding: .8em; overflow-x: auto } pre code { padding: 0 } svg { width: 100%%; max-width: 1000px; height: auto }
@media print { section { display: block; min-height: 0 } }
</style>%s<script>
const all = [...document.querySelectorAll("section")];
const go = (n) => { const at = Math.max(0, Math.min(all.length - 1, n)); all.forEach((s, i) => s.classList.toggle("on", i === at)); location.hash = at + 1; };
const here = () => (parseInt(location.hash.slice(1)) || 1) - 1;
addEventListener("keydown", (e) => { const by = { ArrowRight: 1, PageDown: 1, " ": 1, ArrowLeft: -1, PageUp: -1 }[e.key]; if (by) go(here() + by); });
addEventListener("hashchange", () => go(here())); go(here()); document.documentElement.dataset.ready = "yes";
</script></html>
"""


def cells(path):
    """(kind, text) of a notebook's cells."""
    with open(path, encoding="utf-8") as file:
        return [(c["cell_type"], "".join(c["source"])) for c in json.load(file)["cells"]]


def run(source, names):
    """Execute a cell as Jupyter does: what it printed, and the value of its last line."""
    tree, last, out = ast.parse(source), None, io.StringIO()
    if tree.body and isinstance(tree.body[-1], ast.Expr):
        last = ast.Expression(tree.body.pop().value)
    with contextlib.redirect_stdout(out):
        exec(compile(tree, "<cell>", "exec"), names)
        value = eval(compile(last, "<cell>", "eval"), names) if last else None
    return out.getvalue(), value


def inline(words):
    words = html.escape(words, quote=False)
    words = re.sub(r"`([^`]*)`", r"<code>\1</code>", words)
    return re.sub(r"\*([^*]+)\*", r"<em>\1</em>", words)


def markdown(source):
    """Headings, paragraphs and lists: what the notebook uses."""
    parts = []
    for block in re.split(r"\n\s*\n", source.strip()):
        heading = re.match(r"(#+) (.*)", block)
        if heading:
            parts.append("<h%d>%s</h%d>" % (len(heading[1]), inline(heading[2]), len(heading[1])))
        elif block.startswith("* "):
            parts.append("<ul>%s</ul>" % "".join("<li>%s</li>" % inline(one) for one in block[2:].split("\n* ")))
        else:
            parts.append("<p>%s</p>" % inline(block))
    return "".join(parts)


def shown(source, names):
    """A cell of code as a part of its slide: short ones are shown, and what they give."""
    printed, value = run(source, names)
    parts = ["<pre><code>%s</code></pre>" % html.escape(source)] if source.count("\n") < 5 else []
    if printed:
        parts.append("<pre>%s</pre>" % html.escape(printed))
    if hasattr(value, "_repr_svg_"):
        parts.append(value._repr_svg_())
    elif value is not None:
        parts.append("<pre>%s</pre>" % html.escape(repr(value)))
    return "".join(parts)


def slides(path):
    """The slides of a notebook, each as HTML; its folder is the current one while its cells run."""
    found, names = [], {"__name__": "__main__"}
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    for kind, source in cells(path):
        if kind == "markdown" and source.startswith("#"):
            found.append("")
        found[-1] += markdown(source) if kind == "markdown" else shown(source, names)
    return found


def main(out):
    pages = slides(os.path.join(HERE, "notebook.ipynb"))
    with open(out, "w", encoding="utf-8") as file:
        file.write(PAGE % ("What a GPU would say", "".join("<section>%s</section>" % page for page in pages)))
    print("%d slides in %s" % (len(pages), out))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python3 slides.py OUT.html")
    main(sys.argv[1])
