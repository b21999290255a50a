"""Outputs of whole numbers and truth values, of one trial: between which values each element may lie.

An element is decided if nothing on its way rounds: then it has one right value. If something rounds, a right kernel may round
otherwise, and a comparison or a rounding() behind it goes either way where the number lies next to the limit. So the reference in
float64 runs a few times more, each time with those intermediate numbers moved that float32 (or the task's own type) cannot
hold. What is exact stays as it is: a half stays a half.
"""
import torch

from cawb_host.torch.mode import Mode
from cawb_host.torch import operators
from cawb_host.torch.recorder import tensors_in
from cawb_host.base.tensors import copied, wide

ROUNDS = 4
MOVE = 2.0 ** -21                        # of a number that was rounded: room for eight roundings of float32


class Rounds(Mode):
    """Moves what a narrower type cannot hold, up or down at random; `lost` says why nothing is known of the result."""

    def __init__(self, dtype, device, seed):
        super().__init__()
        self.dtype, self.lost, self.generator = dtype, None, torch.Generator(device).manual_seed(seed & ((1 << 62) - 1))

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        made = func(*args, **kwargs)
        row = operators.of(func)
        if row.name == "_to_copy":
            self.check(args[0], kwargs.get("dtype"))
        if row.kind != "view" and not row.moves and not row.chooses:
            for tensor in tensors_in(made):
                if tensor.device.type == self.generator.device.type:       # a number of a GPU's task may lie on the processor
                    self.move(tensor)
        return made

    def move(self, tensor):
        if tensor.dtype != torch.float64 or not tensor.numel():
            return
        rounded = tensor.to(self.dtype).to(torch.float64) != tensor
        if bool(rounded.any()):
            sides = torch.rand(tensor.shape, generator=self.generator, device=tensor.device, dtype=torch.float64) * 2 - 1
            tensor.add_(torch.where(rounded & tensor.isfinite(), tensor.abs() * sides * self.share(), 0.0))

    def share(self):
        return max(MOVE, 8 * torch.finfo(self.dtype).eps)

    def check(self, given, dtype):
        """What a number beyond a whole type's range becomes is for each device to say."""
        if dtype is None or dtype.is_floating_point or dtype.is_complex or dtype == torch.bool or not given.is_floating_point():
            return
        info = torch.iinfo(dtype)
        if not bool(((given > info.min - 1.0) & (given < info.max + 1.0)).all()):
            self.lost = "a number beyond the range of %s is converted to it" % str(dtype)[6:]


def ambiguous(graph):
    """Whether an operator may give equal values any order, and not as an output that indices.py judges."""
    def with_places(e):                   # running extremes and where they are
        return "cumulative" in e["traits"] and len(e["outputs"]) == 2
    return any(e["traits"].get("index") == "any" or e["name"] == "argsort" or with_places(e) for e in graph)


class Decided:
    """The smallest and the largest value of each element of outputs of whole numbers; `lost` as of Rounds."""

    def __init__(self, runner, trial, dtype):
        self.spans, self.lost = {}, None
        for number in range(ROUNDS):
            mode = Rounds(dtype, runner.device, trial.seed + number)
            outs = runner.forward_near(trial.inputs, trial.seed, unmoved, mode)
            self.lost = self.lost or mode.lost
            for i, (_, out) in enumerate(outs):
                if not out.is_floating_point() and not out.is_complex():
                    low, high = self.spans.get(i, (out, out))
                    self.spans[i] = torch.minimum(low, out), torch.maximum(high, out)

    def wrong(self, i, out, e):
        """Which elements lie outside of what the references, eager PyTorch and these runs come to."""
        low, high = (t.reshape(-1) for t in self.spans[i])
        for other in (e.reference, e.eager):
            if other is not None:
                low, high = torch.minimum(low, other.reshape(-1)), torch.maximum(high, other.reshape(-1))
        out = out.reshape(-1)
        return (out < low) | (out > high)


def unmoved(tensor):
    """A private wide copy of an input or a weight, as it is."""
    made = wide(tensor)
    return copied(made) if made is tensor else made


def note(trial, i, out, entry):
    """Whole numbers of output `i` that differ: do they where there is one right value?"""
    known = trial.decided()
    why = "operators that may give equal values any order" if trial.trials.ambiguous else known and known.lost
    if why:
        entry["unsure"] = why
    elif known and i in known.spans:
        wrong = known.wrong(i, out, trial.expected()[i])
        entry["mismatches"] = int(wrong.sum())
        if entry["mismatches"]:
            entry["first"] = trial.expected()[i].about(out, int(wrong.to(torch.uint8).argmax()))
