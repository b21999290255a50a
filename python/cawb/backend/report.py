"""report: what became of each graph, as lines of text and as a page."""
import contextlib
import dataclasses
import html
import itertools
import os
import statistics
import time

import torch

from cawb.backend import fallback, packages

NUMBERS = itertools.count(1)
HEADINGS = ("graph", "kind", "operators", "kernels", "runs", "error", "eager's error", "time", "fallback's time", "cache", "seconds to make")
SLOWER = "the fallback is faster"
SHOWN = 0.05              # seconds of a phase, from which on it is named
graphs = []


def is_slower(times):
    return times is not None and statistics.median(times["cawb"]) > statistics.median(times["other"])


@dataclasses.dataclass
class PartEntry:
    """One package, or one graph that has none (`why`)."""
    graph: object
    operators: int = 0
    kernels: int = 0
    hit: bool | None = None
    alone: bool = True             # it is timed by itself; a part of a graph is not
    why: str | None = None
    checked: bool = False
    error: float | None = None
    eager: float | None = None
    times: dict | None = None
    noise: list = dataclasses.field(default_factory=list)

    def spend(self, seconds):
        self.graph.spend(seconds)

    def phase(self, name):
        return self.graph.phase(name)

    def note_check(self, verdict, why):
        self.checked, self.why, self.noise = True, why, verdict.get("noise", [])
        self.error, self.eager = verdict.get("error"), verdict.get("eager")
        self.graph.changed()

    def note_times(self, times):
        self.times = times
        if is_slower(times):
            self.why = SLOWER
        self.graph.changed()

    def runs(self):
        return "cawb" if self.why is None and not is_slower(self.graph.times) else self.graph.fallback

    def cells(self):
        shown = self.times if self.alone else self.graph.times
        times = {name: "%.3g ms" % (1e3 * statistics.median(found)) for name, found in (shown or {}).items()}
        error = ["" if e is None else "%.1e" % e for e in (self.error, self.eager)]
        cache = {None: "", True: "hit", False: "miss"}[self.hit]
        own = times.get("cawb", "not timed" if self.checked and self.graph.options.device.startswith("sim:") else "")
        return [str(self.operators), str(self.kernels or ""), self.runs() if self.checked or self.why else "not called yet", *error,
                own, times.get("other", ""), cache]


@dataclasses.dataclass
class GraphEntry:
    """One graph of AOTAutograd's. `left`: (operator, place, why) of what no package has; `times`: of a graph that was cut, whole;
    `spent`: seconds by phase, until a choice was made."""
    kind: str
    options: object
    owner: object = None
    fallback: str = "eager"
    seconds: float = 0.0
    times: dict | None = None
    parts: list = dataclasses.field(default_factory=list)
    left: list = dataclasses.field(default_factory=list)
    spent: dict = dataclasses.field(default_factory=dict)
    number: int = dataclasses.field(default_factory=lambda: next(NUMBERS))

    def part(self, **fields):
        one = PartEntry(self, **fields)
        self.parts.append(one)
        return one

    def note_times(self, times):
        self.times = times
        self.changed()

    def spend(self, seconds):
        for name, s in seconds.items():
            self.spent[name] = self.spent.get(name, 0.0) + s

    @contextlib.contextmanager
    def phase(self, name):
        """A clock around what is done in a phase, on the GPU too."""
        begin = time.perf_counter()
        try:
            yield
        finally:
            if torch.cuda.is_initialized():
                torch.cuda.synchronize()
            self.spend({name: time.perf_counter() - begin})

    def changed(self):
        if not self.options.report:
            return
        try:
            write(self.options.report, [g for g in graphs if g.options.report == self.options.report])
        except OSError as error:
            fallback.once("cawb: the page of the option `report` is not written: %s" % error.strerror)


def add(entry):
    graphs.append(entry)
    return entry


def of(owner):
    """The graphs of one compiled function; functions that were compiled without options have theirs together."""
    return [g for g in graphs if g.owner is owner]


def rows(chosen):
    """A row for each package and for each operator that has none. Those of a graph that was cut are numbered behind its own number."""
    for g in chosen:
        left = [["1", "", g.fallback, "", "", "", "", ""] for _ in g.left]
        for k, cells in enumerate([part.cells() for part in g.parts] + left):
            number = "%d.%d" % (g.number, k + 1) if len(g.parts) + len(left) > 1 else str(g.number)
            yield [number, g.kind, *cells, "%.2g" % g.seconds if k == 0 else ""]


def reasons(chosen):
    """A line for each operator that fell back, and for each package that does not run."""
    for g in chosen:
        for k, (operator, place, why) in enumerate(g.left):
            number = "%d.%d" % (g.number, len(g.parts) + k + 1) if len(g.parts) + len(g.left) > 1 else str(g.number)
            yield "graph %s: %s%s: %s" % (number, operator, " at " + place if place else "", why)
        if is_slower(g.times):
            yield "graph %d: the fallback of the whole graph is faster" % g.number
        for part in g.parts:
            if part.why:
                yield "graph %d: %s" % (g.number, part.why)
            if part.noise:
                yield ("graph %d: result %s has no right digit in eager PyTorch either, as it is rounding around zero; its error is not in "
                       "the table" % (g.number, ", ".join(map(str, part.noise))))


def phases(chosen):
    """A line for each graph: where the seconds before its choice went."""
    for g in chosen:
        named = ["%s %.1f" % (name, s) for name, s in g.spent.items() if s >= SHOWN]
        if named:
            yield "graph %d: seconds of its choice: %s" % (g.number, ", ".join(named))


def text(chosen):
    lines = [list(HEADINGS), *rows(chosen)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(HEADINGS))]
    table = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in lines]
    return "\n".join(table + list(reasons(chosen)) + list(phases(chosen)))


def page(chosen):
    def row(cells, tag):
        return "<tr>%s</tr>" % "".join("<%s>%s</%s>" % (tag, html.escape(c), tag) for c in cells)
    body = [row(HEADINGS, "th"), *(row(cells, "td") for cells in rows(chosen))]
    fell = "".join("<li>%s</li>" % html.escape(line) for line in itertools.chain(reasons(chosen), phases(chosen)))
    return ("<!doctype html><meta charset=utf-8><title>cawb: graphs</title><style>body{font:15px sans-serif;margin:2em}td,th{padding:3px 9px;"
            "text-align:left;border-bottom:1px solid #ccc}</style><h1>Graphs of torch.compile(backend=\"cawb\")</h1><table>%s</table><ul>%s</ul>\n"
            % ("".join(body), fell))


def write(path, chosen):
    os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    packages.written(os.path.abspath(path), page(chosen).encode())
