"""part: a graph that became a package, with its fallback. The first call decides which of the two stays."""
import hashlib
import math
import statistics
import time

import torch

from cawb.backend import check, failure, fallback, packages
from cawb.backend.native import Native
from cawb.backend.simulated import Simulated

PAIRS = 7            # of timed calls
LEAST = 3e-3         # seconds that one sample takes at least


def seen(tensor, how):
    """A tensor as an Output says."""
    return tensor.as_strided(how.size, how.stride, tensor.storage_offset() + how.offset)


def forms_of(recorded):
    """(size, strides, type) of each computed tensor: those of the first result that it is, where it has as many elements."""
    forms, first = [(size, torch.empty(size, device="meta").stride(), dtype) for dtype, size in recorded.made], {}
    for number, how in enumerate(recorded.outputs):
        if how.kind == "made" and how.number not in first and how.offset == 0 and math.prod(how.size) == math.prod(forms[how.number][0]):
            first[how.number] = number
            forms[how.number] = (how.size, how.stride, forms[how.number][2])
    return forms, set(first.values())


class Part:
    def __init__(self, module, recorded, package, chip, options, entry):
        self.module, self.recorded, self.package, self.chip, self.options, self.entry = module, recorded, package, chip, options, entry
        self.other = fallback.Late(module, chip, options)
        self.forms, self.whole = forms_of(recorded)
        self.inputs = [i for i, place in enumerate(recorded.arguments) if place and place[0] == "input"]
        self.params = [i for i, place in enumerate(recorded.arguments) if place and place[0] == "param"]
        guarded = entry.alone and entry.graph.kind != "backward"              # Dynamo guards the strides of these arguments
        self.loose = [] if guarded else [(i, recorded.forms[i]) for i in self.inputs if recorded.forms[i] is not None]
        self.outputs = list(enumerate(recorded.outputs))
        self.chosen, self.flags, self.runner = None, packages.precision(), None
        if isinstance(package, packages.Package):
            self.load()

    def __call__(self, *args):
        if self.chosen is None or packages.precision() != self.flags:
            return self.first(args)
        return self.chosen(*args)

    def load(self):
        self.entry.kernels, self.entry.hit = self.package.kernels(), self.package.hit
        made = (self.package, self.forms, self.chip)
        self.runner = Simulated(*made, self.recorded.request) if self.chip.gpu is None else Native(*made, self.options)

    def ready(self):
        """Whether it can be called. A package that was begun is loaded once it is there; the fallback stays where none could be made."""
        if self.runner is None and self.entry.why is None:
            if not self.package.done():
                return False
            try:
                self.package = self.package.result()
                self.load()
            except Exception as why:           # pylint: disable=broad-except   # of another thread, of a compiler, of a driver
                self.entry.why = str(why)
        return True

    def packaged(self, *args):
        """The graph's results by the package."""
        given = [*args, *self.recorded.constants]
        for i, form in self.loose:
            if given[i].shape != form[0]:                # of an operator whose size follows from data and that PyTorch does not know as such
                return fallback.eager(self.module)(*args)
            if given[i].stride() != form[1]:             # one that eager PyTorch made may have others than the graph was recorded with
                given[i] = torch.empty_strided(*form, dtype=given[i].dtype, device=given[i].device).copy_(given[i])
        made, whole = self.runner.run([given[i] for i in self.inputs], [given[i] for i in self.params]), self.whole
        return tuple([made[how.number] if number in whole else self.result(how, given, made) for number, how in self.outputs])

    @staticmethod
    def result(how, given, made):
        if how.kind == "value":
            return how.value
        if how.kind == "argument":
            x = given[how.number]
            return x if how.offset == 0 and tuple(x.shape) == how.size and x.stride() == how.stride else seen(x, how)
        if how.kind == "made":
            return seen(made[how.number], how)
        device = next((x.device for x in given if isinstance(x, torch.Tensor)), None)
        empty = torch.empty_strided(how.size, how.stride, dtype=how.dtype, device=device)
        return empty.copy_(made[how.number]) if how.kind == "copied" else empty

    # ---- the first call

    def first(self, args):
        """Results of a call that settles what later calls run."""
        self.flags = packages.precision()
        if self.runner is None:
            return self.settle(self.other, args)
        if self.chip.gpu is not None and torch.cuda.is_current_stream_capturing():
            return self.other(*args)            # nothing can be compared while a graph is captured
        if self.options.choose == "always":
            self.chosen = self.packaged
            return self.packaged(*args)
        found = self.checked(args)
        if found is None:
            return self.settle(self.other, args)
        if self.entry.alone and not is_faster(self, self.packaged, args, self.package, "times"):
            return self.settle(self.other, args)
        self.chosen = self.packaged
        return found

    def settle(self, chosen, args):
        self.chosen = chosen
        return chosen(*args)

    def checked(self, args):
        """The package's results, if they are right; else None, and a folder that shows what is wrong."""
        try:
            found = self.packaged(*args)
            verdict = check.compare(self.module, args, found)
            why = None if verdict["ok"] else "wrong results: %s" % ("; ".join(verdict["words"][:2]) or "another form than eager's")
        except RuntimeError as error:
            found, verdict, why = None, {}, str(error)
        self.entry.note_check(verdict, why)
        if why is None:
            return found
        folder = failure.write(self, args, why)
        fallback.once("cawb: a graph's kernels failed and it runs as %s: %s; %s reproduces it"
                      % (fallback.name_of(self.chip, self.options), why, folder))
        return None


class Cut:
    """A graph that was cut: its parts choose by their results, and their whole is timed beside the fallback of the whole graph."""

    def __init__(self, run, parts, module, chip, options, entry):
        self.run, self.parts, self.chip, self.options, self.entry = run, parts, chip, options, entry
        self.other, self.chosen, self.flags = fallback.Late(module, chip, options), None, None
        self.name = "whole-" + hashlib.sha256(module.code.encode()).hexdigest()[:16]

    def __call__(self, *args):
        if self.chosen is None or packages.precision() != self.flags:
            return self.first(args)
        return self.chosen(*args)

    def first(self, args):
        self.flags, found = packages.precision(), self.run(*args)
        loaded = [part for part in self.parts if part.runner is not None]
        if not loaded or self.chip.gpu is not None and torch.cuda.is_current_stream_capturing():
            return found
        with torch.random.fork_rng(devices=[] if self.chip.gpu is None else [self.chip.gpu]):
            self.chosen = self.run if is_faster(self, self.run, args, loaded[0].package, self.name) else self.other
        return found


# ---- times

def is_faster(one, run, args, package, name):
    """Whether `run` is no slower than the fallback, by times of both in turns, which are kept beside the package. Without a GPU,
    and where it was not asked for, it counts as such."""
    if one.options.choose != "measured" or one.chip.gpu is None:
        return True
    name = "-".join([name, fallback.name_of(one.chip, one.options), str(one.options.cuda_graph), *map(str, one.flags)])
    times = package.note(name) or package.note(name, measured({"cawb": run, "other": one.other}, args))
    one.entry.note_times(times)
    return statistics.median(times["cawb"]) <= statistics.median(times["other"])


def measured(rivals, args):
    """Seconds of calls, in turns."""
    found, rounds = {name: [] for name in rivals}, {}
    for name, run in rivals.items():
        run(*args)
        rounds[name] = max(1, min(1000, int(LEAST / max(1e-7, timed(run, args, 3)))))
    for _ in range(PAIRS):
        for name, run in rivals.items():
            found[name].append(timed(run, args, rounds[name]))
    return found


def timed(run, args, rounds):
    """Seconds of one call, the processor's work included."""
    torch.cuda.synchronize()
    begin = time.perf_counter()
    for _ in range(rounds):
        run(*args)
    torch.cuda.synchronize()
    return (time.perf_counter() - begin) / rounds
