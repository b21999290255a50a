"""part: a graph that became a package, with its fallback. The first call decides which of the two stays."""
import hashlib
import math
import statistics
import time

import torch
from torch.utils._python_dispatch import _disable_current_modes

from cawb.backend import calls, check, failure, fallback, packages
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


class Given:
    """What a graph's arguments and results are to its package: `places` of arguments, then of constants; `loose`: (argument, form) of those
    whose strides nobody guards; `simple`: the package makes all results, as `results` says."""

    def __init__(self, recorded, whole, guarded):
        self.places, self.constants, self.outputs, self.whole = recorded.arguments, recorded.constants, recorded.outputs, whole
        self.count = len(recorded.arguments) - len(recorded.constants)
        self.forms = recorded.forms
        self.loose = [] if guarded else [(i, self.forms[i]) for i, place in enumerate(self.places) if place and place[0] == "input"]
        told = [self.result(number, how) for number, how in enumerate(self.outputs)]
        self.simple = None not in told
        self.results = told if self.simple else [calls.Result(calls.MADE, k) for k in range(len(recorded.made))]

    def result(self, number, how):
        """How the launcher makes a result; None where it does not."""
        if how.kind == "made":
            return calls.Result(calls.MADE, how.number) if number in self.whole else \
                calls.Result(calls.MADE, how.number, (how.size, how.stride, how.offset))
        if how.kind == "value":
            return calls.Result(calls.OBJECT, 0, how.value)
        if how.kind == "argument" and how.number >= self.count and as_it_is(self.constants[how.number - self.count], how):
            return calls.Result(calls.OBJECT, 0, self.constants[how.number - self.count])
        if how.kind == "argument" and how.number < self.count and how.offset == 0 and self.forms[how.number] == (how.size, how.stride):
            return calls.Result(calls.ARGUMENT, how.number)
        return None


def as_it_is(tensor, how):
    return how.offset == 0 and tuple(tensor.shape) == how.size and tensor.stride() == how.stride


class Part:
    def __init__(self, module, recorded, package, chip, options, entry, other=None):
        self.module, self.recorded, self.package, self.chip, self.options, self.entry = module, recorded, package, chip, options, entry
        self.other = other or fallback.Late(module, chip, options)
        self.forms, whole = forms_of(recorded)
        self.given = Given(recorded, whole, entry.alone and entry.graph.kind != "backward")      # Dynamo guards the strides of other arguments
        self.outputs = list(enumerate(recorded.outputs))
        self.chosen, self.flags, self.runner = None, packages.precision(), None
        if isinstance(package, packages.Package):
            self.load()

    def __call__(self, *args):
        return self.chosen(*args) if self.settled() else self.first(args)

    def settled(self):
        return self.chosen is not None and packages.precision() == self.flags

    def load(self):
        self.entry.kernels, self.entry.hit = self.package.kernels(), self.package.hit
        self.entry.spend(self.package.seconds)
        made = (self.package, self.forms, self.chip)
        with self.entry.phase("loading"):
            self.runner = Simulated(*made, self.recorded) if self.chip.gpu is None else Native(*made, self.options, self.given)

    def callable(self, other=None):
        """A function of the graph's arguments; where the package was not chosen, it calls `other`, or this part."""
        if isinstance(self.runner, Native) and self.given.simple and self.runner.checks:
            return self.runner.entry(other or self)
        return self if other is None else lambda *args: (self if self.settled() and self.chosen == self.packaged else other)(*args)

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
        given = [*args]
        for i, form in self.given.loose:
            if given[i].shape != form[0]:                # of an operator whose size follows from data and that PyTorch does not know as such
                return fallback.eager(self.module)(*args)
            if given[i].stride() != form[1]:             # one that eager PyTorch made may have others than the graph was recorded with
                given[i] = torch.empty_strided(*form, dtype=given[i].dtype, device=given[i].device).copy_(given[i])
        made = self.runner.run(*given)
        if self.given.simple and isinstance(self.runner, Native):
            return made
        given += self.recorded.constants
        return tuple([made[how.number] if number in self.given.whole else self.result(how, given, made) for number, how in self.outputs])

    @staticmethod
    def result(how, given, made):
        if how.kind == "value":
            return how.value
        if how.kind == "argument":
            x = given[how.number]
            return x if as_it_is(x, how) else seen(x, how)
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
            return self.settle(self.packaged, args)
        found = self.checked(args)
        if found is None:
            return self.settle(self.other, args)
        if self.entry.alone and not is_faster(self, self.packaged, args, self.package, "seconds"):
            return self.settle(self.other, args)
        self.choose(self.packaged)
        return found

    def settle(self, chosen, args):
        self.choose(chosen)
        return chosen(*args)

    def choose(self, chosen):
        self.chosen = chosen
        if isinstance(self.runner, Native):
            self.runner.choose(self.flags if chosen == self.packaged else None)

    def checked(self, args):
        """The package's results, if they are right; else None, and a folder that shows what is wrong."""
        try:
            with self.entry.phase("kernels"):
                found = self.packaged(*args)
            with _disable_current_modes():
                verdict = check.compare(self.module, args, found, self.entry.phase)
            why = None if verdict["ok"] else "wrong results: %s" % ("; ".join(verdict["words"][:2]) or "another form than eager's")
        except (RuntimeError, OSError) as error:
            found, verdict, why = None, {}, str(error)
        self.entry.note_check(verdict, why)
        if why is None:
            return found
        fallback.once("cawb: a graph's kernels failed and it runs as %s: %s; %s" % (fallback.name_of(self.chip, self.options), why, self.shown(args, why)))
        return None

    def shown(self, args, why):
        """Words of the folder that shows what failed."""
        try:
            return "%s reproduces it" % failure.write(self, args, why)
        except OSError as error:
            return "nothing reproduces it, for the folder of the option `failures` takes no files: %s" % error


class Cut:
    """A graph that was cut: its parts choose by their results, and their whole is timed beside the fallback of the whole graph."""

    def __init__(self, run, parts, module, chip, options, entry):
        self.run, self.parts, self.chip, self.options, self.entry = run, parts, chip, options, entry
        self.other, self.chosen, self.flags = fallback.Late(module, chip, options), None, None
        self.name = "seconds-whole-" + hashlib.sha256(module.code.encode()).hexdigest()[:16]

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

def is_timed(chip, options):
    return options.choose == "measured" and chip.gpu is not None


def is_faster(one, run, args, package, name):
    """Whether `run` is no slower than the fallback, by times of both in turns, which are kept beside the package. Without a GPU,
    and where it was not asked for, it counts as such."""
    if not is_timed(one.chip, one.options):
        return True
    name = "-".join([name, fallback.name_of(one.chip, one.options), str(one.options.cuda_graph), *map(str, one.flags)])
    times = package.note(name) or package.note(name, beside(one, run, args, one.entry.phase))
    one.entry.note_times(times)
    return statistics.median(times["cawb"]) <= statistics.median(times["other"])


def beside(one, run, args, phase):
    """Times of both. The fallback's first call tries its kernels, of which it keeps the fastest. AOTAutograd looks at each operator of a
    graph's first call, and of all that is called in it: by that a fallback took 20 ms a call that takes 3.6 ms later."""
    with phase("compiling the fallback"):
        other = one.other.compiled(args)
    with _disable_current_modes():
        with phase("the fallback's first call"):
            other(*args)
        with phase("timing"):
            return measured({"cawb": run, "other": other}, args)


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
