"""Checks that need no reference: how outputs for related inputs are related.

They are for shapes whose reference is too expensive for every kind of inputs. A candidate runs on further inputs in stages.
The outputs of the last stage are compared with the result that follows from the earlier ones. The relations of a task
follow from its operators (affine.py, rows.py). Eager PyTorch has to keep them, too: its error is the measure.

  linear   x, y, then 2 x - y: sums of eighths, so that no input is rounded
  rows     the task's own inputs, then the same with their rows in another order
"""
import torch

from cawb_host.judge.compare import affine
from cawb_host.judge.compare import rows
from cawb_host.judge.compare.affine import No
from cawb_host.judge.inputs.battery import fill
from cawb_host.judge.inputs.draws import normal
from cawb_host.base.fault import Fault
from cawb_host.judge.compare.gpu_output import expected
from cawb_host.judge.task.runner import made_on, seed_all
from cawb_host.base.tensors import flat

STAGES = {"linear": 3, "rows": 2}
WEIGHTS = {1: 2.0, 2: -1.0}                  # of the stages of `linear` before the last
OTHER = 0x5deece66d                          # another seed


def stage_of(case):
    """("linear", 2) of "linear:2"; None for a kind of inputs."""
    name, _, number = (case or "").partition(":")
    if name in STAGES and number.isdigit() and 1 <= int(number) <= STAGES[name]:
        return name, int(number)
    return None


def is_last(case):
    name, number = stage_of(case)
    return number == STAGES[name]


def eighths(like):
    """Few bits: sums of some are exact in every type."""
    return (normal(*flat(like).shape) * 8).round_().clamp_(-32, 32) / 8


class Relations:
    """Of one task. `inputs` are its tensors as the worker sees them, `sources` the labels of
    what made its outputs."""

    def __init__(self, runner, judge, graph, inputs, outputs):
        self.runner, self.judge = runner, judge
        self.shapes = [(t.shape, t.dtype) for t, _ in outputs]
        self.found, self.why, self.kept, self.eager = {}, {}, None, {}
        for name, look in (("linear", self.look_linear), ("rows", self.look_rows)):
            try:
                if not all(t.is_floating_point() for t, _ in outputs):
                    raise No("an output is made of whole numbers")
                look(graph, inputs, [source for _, source in outputs])
            except No as no:
                self.why[name] = str(no)

    def look_linear(self, graph, inputs, sources):
        labels = ["input:%d" % (i + 1) for i, t in enumerate(inputs)
                  if isinstance(t, torch.Tensor) and t.is_floating_point() and t.numel()]
        found = affine.inputs(graph, labels)
        if not set(sources) & affine.follow(graph, found):
            raise No("no output depends on an input by operators that are followed")
        self.found["linear"] = [int(label[6:]) for label in found]

    def look_rows(self, graph, inputs, sources):
        tensors = {i + 1: t for i, t in enumerate(inputs) if isinstance(t, torch.Tensor) and t.dim()}
        first = next(iter(tensors), None)
        count = tensors[first].shape[0] if first else 0
        if count < 2:
            raise No("the first input has fewer than two rows")
        alike = [i for i, t in tensors.items() if t.shape[0] == count and t.stride(0) != 0]
        why = None
        for chosen in ([alike] if len(alike) < 2 else [alike, alike[:1]]):
            try:
                axes = rows.follow(graph, ["input:%d" % i for i in chosen], count)
                self.axes = [axes.get(source) for source in sources]
                if None in self.axes:
                    raise No("an output has no rows of the input's")
                self.found["rows"], self.count = chosen, count
                return
            except No as no:
                why = why or no
        raise why

    def describe(self):
        return {"found": self.found, "why": self.why}

    # Inputs

    def inputs(self, seed, case):
        """Those of a stage, from the seed alone."""
        name, stage = stage_of(case)
        if name not in self.found:
            raise Fault("unsupported", "this task has no relation '%s': %s" % (name, self.why[name]))
        inputs = list(self.runner.inputs(seed))
        for number in self.found[name] if name == "linear" or stage == 2 else ():
            like = inputs[number - 1]
            if name == "linear":
                like = inputs[number - 1] = blank(like, "meta")      # large ones are not there twice
                inputs[number - 1] = self.draw(like, seed + number, stage)
            else:
                inputs[number - 1] = placed(like, like.index_select(0, self.order(seed)))
        return inputs

    def draw(self, like, seed, stage):
        """x, y or 2 x - y of one input, in place."""
        made = blank(like, self.runner.device)
        self.fill(made, like, seed ^ OTHER if stage == 2 else seed, torch.Tensor.copy_)
        if stage == 3:
            self.fill(made.mul_(WEIGHTS[1]), like, seed ^ OTHER, torch.Tensor.sub_)
        return made

    def fill(self, made, like, seed, put):
        seed_all(seed)
        with made_on(self.runner.device):
            fill(flat(made), like, eighths, put)

    def order(self, seed):
        generator = torch.Generator()
        generator.manual_seed(seed ^ OTHER)
        return torch.randperm(self.count, generator=generator, device="cpu").to(self.runner.device)

    # Outputs

    def keep(self, seed, case, outs):
        """Keeps the outputs of an earlier stage, or the part that the last stage is compared with."""
        name, stage = stage_of(case)
        if stage == 1:
            self.kept = (name, seed), [self.first(name, seed, i, out) for i, out in enumerate(outs)]
        else:
            for sum_, out in zip(self.of(name, seed), outs):
                sum_.add_(out, alpha=WEIGHTS[stage])

    def first(self, name, seed, index, out):
        if name == "linear":
            return out.to(torch.float64, copy=True).mul_(WEIGHTS[1])
        dim, length = self.axes[index]
        order = self.order(seed)
        if length > 1:
            order = (order.unsqueeze(1) * length + torch.arange(length, device=order.device)).view(-1)
        return out.index_select(dim, order).to(torch.float64)

    def of(self, name, seed):
        if self.kept is None or self.kept[0] != (name, seed):
            raise Fault("invalid", "the earlier stages of '%s' come first" % name)
        return self.kept[1]

    def expected(self, seed, case):
        """The expected outputs of the last stage, as a trial's references."""
        found = [expected(self.judge, want, want.to(dtype))
                 for want, (_, dtype) in zip(self.of(stage_of(case)[0], seed), self.shapes)]
        self.kept = None
        return found

    def measure(self, name, seed):
        """How well eager PyTorch keeps a relation: its errors by output, made once."""
        if name not in self.eager:
            for stage in range(1, STAGES[name] + 1):
                case = "%s:%d" % (name, stage)
                outs = [t for _, t in self.runner.forward(self.inputs(seed, case), seed)]
                if stage < STAGES[name]:
                    self.keep(seed, case, outs)
            self.eager[name] = [e.measure(t) for e, t in zip(self.expected(seed, case), outs)]
        return self.eager[name]


def blank(like, device):
    """A tensor that lies as another does."""
    return torch.empty_strided(like.shape, like.stride(), dtype=like.dtype, device=device)


def placed(like, values):
    """Values in a tensor that lies as another does."""
    return values if values.stride() == like.stride() else blank(like, like.device).copy_(values)
