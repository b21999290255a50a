"""Inputs and references, kept by secret seed.

The inputs are private copies that the worker cannot write to. Large ones are views of the
share, and their hash is checked before they are used. References are
computed on first use. The most recent seeds stay, up to a count and a number of
bytes; a seed that comes back costs nothing.

Peak GPU memory in bytes, with the worker's own copies. The task has one input I and one
output O, each of n elements in float32 (4 n bytes):

    get_inputs               share I+O, worker I+O, new I                5 x 4 n
    inputs in their share    share I+O, worker I+O                       4 x 4 n
    reference in float64     share I+O, worker I+O, wide 2 I + 2 O       8 x 4 n
    eager and its error      share I+O, worker I+O, wide 2 O, eager O    7 x 4 n
    compare                  share I+O, worker I+O, wide 2 O             6 x 4 n

    relation, drawing        share I+O, worker I+O, sum 2 O, new I       7 x 4 n
    relation, other rows     share I+O, worker I+O, wide 2 O, new 2 I    8 x 4 n

and the operators' own memory. While the task is loaded there is no share
and no worker: I + O, then 2 I + O.
"""
import collections
import gc

import torch

from cawb_host.judge.inputs import battery
from cawb_host.judge.compare import indices
from cawb_host.judge.inputs import places
from cawb_host.judge.compare import plain
from cawb_host.judge.compare import slope
from cawb_host.judge.compare import relations
from cawb_host.base.fault import Fault, kind_of
from cawb_host.judge.inputs.guard import Guard
from cawb_host.judge.compare.gpu_output import expected, known
from cawb_host.judge.compare.decided import Decided
from cawb_host.judge.compare.terms import Terms
from cawb_host.judge.task.runner import made_on
from cawb_host.judge.task.wide import Both
from cawb_host.base.tensors import Layout, describe_all, dtype_name, flat, leaves, mapped, mapped_views, shape_of

KEPT_SEEDS = 8
KEPT_BYTES = 2 << 30
FAR_OFF = 1e-2           # normalised rms error of eager PyTorch's with which nothing can be judged;
UNSURE, MOVED = 3e-5, 1e-3   # with which it is looked how far one rounding moves the reference, and too far
MOST_TOLD = 1000         # characters of why
FEW = 1 << 17            # elements of inputs
ALL = "!"                # behind a kind: inputs that say something of each output, not of one at least
PRIVATE = 256 << 20      # bytes of inputs up to which a trial has them to itself


class Trial:
    def __init__(self, trials, seed, case=None, level="free"):
        self.trials, self.runner, self.seed = trials, trials.runner, seed
        self.case, self.whole = (case[:-1], True) if case and case.endswith(ALL) else (case, False)
        self.level = level       # see host/judge/battery.py
        self._inputs, self.private = self.make_inputs(), True
        layout = Layout()
        with self.runner.task.located("get_inputs"):
            self.specs = describe_all(self.inputs, layout, self.runner.task.form)
        self.share_size = layout.size
        self.precision = None
        self._expected = self._terms = self._plain = self._unfit = self._decided = self._rounded = None

    def make_inputs(self):
        """From the seed alone; see host/judge/battery.py and host/judge/relations.py."""
        if relations.stage_of(self.case):
            return self.trials.relations.inputs(self.seed, self.case)
        inputs = self.runner.inputs(self.seed)
        choices = (self.trials.choices, self.seed) if places.stage_of(self.case) else None
        if self.case and not choices and self.few(inputs):
            made = battery.apply(self.case, mapped(inputs, torch.Tensor.cpu), self.level, self.trials.scene)
            return mapped(made, lambda t: t.to(self.runner.device))
        with made_on(self.runner.device):
            return battery.apply(self.case, inputs, self.level, self.trials.scene, choices)

    def few(self, inputs):
        """Whether a kind of inputs on a GPU is drawn on the processor, and copied: of few elements some hundred launches take longer.
        A copy of what has gaps would lie otherwise."""
        found = []
        mapped(inputs, found.append)
        return all(t.is_cuda and t.is_contiguous() for t in found) and sum(t.numel() for t in found) <= FEW

    def leaves(self):
        for x, spec in zip(self.inputs, self.specs):
            yield from leaves(x, spec)

    @property
    def inputs(self):
        if self._inputs is None:
            self._inputs = self.make_inputs()
        return self._inputs

    def lend(self, memory):
        """From now on the inputs are views of these bytes of the share."""
        self._inputs = [mapped_views(x, s, memory) for x, s in zip(self.inputs, self.specs)]
        self.private = False

    def reclaim(self):
        """The share will hold other inputs, or does not hold these any more: if they are needed,
        they are made again."""
        if not self.private:
            self._inputs, self.private = None, True

    def expected(self):
        """The expected values of each output; made once, without other trials if memory is
        short."""
        if self._expected is None and relations.stage_of(self.case):
            self.precision = "relation"
            self._expected = self.trials.relations.expected(self.seed, self.case)
        if self._expected is None:
            try:
                self._expected = self.references()
            except (Fault, RuntimeError, MemoryError) as error:
                if not short_of_memory(error):
                    raise
        if self._expected is None:  # memory that the error held on to is free by now
            self.trials.keep_only(self)
            self._expected = self.references()
        return self._expected

    def references(self):
        """In float64 first: its copy of the inputs is gone when eager PyTorch runs."""
        guard = Guard() if self.trials.guarded and self.case else None
        scores = self.trials.watch(True), self.trials.watch(False)
        wide = self.runner.forward_wide(self.inputs, self.seed, Both(guard, scores[0]))
        eager = self.runner.forward(self.inputs, self.seed, Both(guard, scores[1]))
        if self.case and [list(t.shape) for _, t in eager] != self.trials.shapes:
            raise Fault("task", "the output has another shape")
        self.precision = "float64" if wide else precision(eager)
        index = indices.found(self.trials.places, scores[1], scores[0] if wide else scores[1])
        return [expected(self.trials.judge, w, e, i)
                for (_, w), (_, e), i in zip(wide or eager, eager, index)]

    def unfit(self):
        """Why nothing can be learnt from these inputs, or None: the reference is not finite, PyTorch itself is
        far from it, or one rounding moves it far: then two right programs are far apart, and which of them is near is chance.
        No candidate has a part in that. What it raises is for the caller."""
        each = self.unfit_outputs()
        enough = len(each) == len(self.expected()) or each and (self.whole or self.case is None)
        return next(iter(each.values())) if enough else None

    def unfit_outputs(self):
        """The same by number of output."""
        if self._unfit is None:
            expected = self.expected()
            known(expected)
            found = {i: self.unfit_output(i, e) for i, e in enumerate(expected)
                     if e.dtype.is_floating_point and self.case not in battery.STRANGE}
            self._unfit = {i: why for i, why in found.items() if why}
        return self._unfit

    def unfit_output(self, number, e):
        error = e.eager_error["nrms"] or 0
        if e.odd:
            return "the reference is not finite"
        if not error <= FAR_OFF:
            return "PyTorch itself is far from the reference"
        if error <= UNSURE or e.dtype.itemsize < 4:
            return None
        terms = self.terms()
        moved = terms.moved.get(number, 0.0) if terms else 0.0
        return None if moved <= MOVED else "one rounding of what goes in moves the reference by %.2g of its size" % moved

    def terms(self):
        """For a second look, made once: see host/judge/terms.py; None where there can be none."""
        if self._terms is None and self.precision == "float64":
            try:
                self._terms = Terms(self.runner, self.inputs, self.seed, self.expected())
            except (Fault, RuntimeError, MemoryError) as error:
                if isinstance(error, Fault) and error.name == "device" or kind_of(error) == "device":
                    raise
                self.precision = "float64, once"      # no room, or no way to move the factors
        return self._terms

    def plain(self):
        """The errors of straightforward kernels, made once (host/judge/plain.py): by output, errors and
        looks at them; empty if there are none."""
        if self._plain is None:
            made, expected, terms = plain.outputs(self.runner, self.inputs, self.seed), self.expected(), self.terms()
            self._plain = {i: ([e.measure(outs[i]) for outs in made], [terms.look(i, outs[i]) for outs in made])
                           for i, e in enumerate(expected) if made and terms and i in terms.sizes}
        return self._plain

    def decided(self):
        """Between which values each element of an output of whole numbers may lie, made once (compare/decided.py); None
        where there is no float64 reference."""
        if self._decided is None and self.precision == "float64":
            floats = [t.dtype for t, _ in self.leaves() if t.is_floating_point()]
            self._decided = Decided(self.runner, self, min(floats or [torch.float32], key=lambda d: d.itemsize))
        return self._decided

    def rounded(self):
        """By output of 16 bits, how far rounding on the way moves all of it, made once (compare/slope.py); empty where that is not known."""
        if self._rounded is None:
            self._rounded = slope.rounded(self.runner, self.inputs, self.seed, self.expected()) if self.terms() else {}
        return self._rounded

    def largest(self):
        """The largest magnitude among inputs that are finite."""
        found = [float(flat(t).to(torch.float64).nan_to_num(nan=0.0, posinf=0.0, neginf=0.0).abs().max())
                 for t, _ in self.leaves() if t.is_floating_point() and t.numel()]
        return max(found, default=0.0)

    def has_expected(self):
        return self._expected is not None

    def bytes(self):
        kept = self.share_size if self.private and self._inputs is not None else 0
        terms = 2 if self._terms else 1
        return kept + terms * sum(e.bytes() for e in self._expected or ())

    def shapes(self):
        return [shape_of(s) for s in self.specs]


def kind(case):
    """Of a case, its name without the stage."""
    return case and case.partition(":")[0]


def precision(outputs):
    """The precision of a reference if float64 was impossible."""
    floats = [t for _, t in outputs if t.is_floating_point()]
    return dtype_name((floats or [outputs[0][1]])[0], "output 1")


def short_of_memory(error):
    return error.name == "memory" if isinstance(error, Fault) else kind_of(error) == "memory"


class Trials:
    """`judge` is None where PyTorch has to do it; `size` is how many bytes one more
    trial is expected to take, references and all."""

    def __init__(self, runner, judge=None):
        self.runner, self.judge, self.size = runner, judge, 0
        self.kept = collections.OrderedDict()
        self.places = []         # of outputs that are indices; see host/judge/indices.py
        self.relations = None    # see host/judge/relations.py
        self.guarded = False     # has it operators that stop a GPU? see host/judge/guard.py
        self.shapes = []         # of outputs
        self.scene = battery.Scene(set())    # what is known of its inputs
        self.ambiguous = False   # has it operators that may give equal values any order?
        self.choices = None      # along what the task chooses; see host/judge/places.py
        self.level = {}          # by kind: how far inputs may reach, as far as is known,
        self.lowered = {}        # and why no further

    def watch(self, wide):
        """The mode for a reference's forward, where outputs are indices. In float64 only those
        are kept whose scores have an error."""
        places = [p for p in self.places if p and not (wide and p.direct)]
        return indices.Scores({p.number for p in places}) if any(self.places) else None

    def levels(self, case):
        """How far inputs of a case may reach, the furthest first; those are left out that the
        reference could not deal with."""
        if case is None or relations.stage_of(case):
            return battery.LEVELS[:1]
        return battery.LEVELS[battery.LEVELS.index(self.level.get(kind(case), battery.LEVELS[0])):]

    def reaches(self, case, level):
        """Let it be known how far inputs of a case may reach."""
        self.level[kind(case)] = battery.LEVELS[0] if level in battery.ANYWHERE else level

    def told(self, trial):
        """The remark about inputs that are not the first that were drawn."""
        if trial.case is None or relations.stage_of(trial.case) or trial.level == battery.LEVELS[0]:
            return None
        return {"level": trial.level, "why": self.lowered.get(kind(trial.case), "")[:MOST_TOLD]}

    def get(self, seed, case=None, level=battery.LEVELS[0]):
        """The trial of a seed and a case, now the most recent one."""
        trial = self.kept.get((seed, case))
        if trial is None or trial.level != level:
            self.trim(1, self.size)
            trial = self.kept[seed, case] = Trial(self, seed, case, level)
        self.kept.move_to_end((seed, case))
        self.trim()
        return trial

    def trim(self, more=0, size=0):
        """Drop the oldest beyond the limits, with so many more to come of a `size`. The
        newest stays where none is to come."""
        while len(self.kept) > (0 if more else 1) and (
                len(self.kept) + more > KEPT_SEEDS or self.bytes() + size > KEPT_BYTES):
            self.kept.popitem(last=False)

    def bytes(self):
        """Of all that is kept; of small trials more than there can be will do."""
        most = len(self.kept) * self.size
        return most if most < KEPT_BYTES // 2 else sum(t.bytes() for t in self.kept.values())

    def keep_only(self, trial):
        """Memory is short."""
        for seed in [s for s, t in self.kept.items() if t is not trial]:
            del self.kept[seed]
        gc.collect()
        if torch.cuda.is_initialized():
            torch.cuda.empty_cache()

    def drop(self, trial):
        if self.kept.get((trial.seed, trial.case)) is trial:
            del self.kept[trial.seed, trial.case]
