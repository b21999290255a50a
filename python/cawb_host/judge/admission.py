"""Mutants of a reference: a task must reject them before it is trusted.

Each is an output that a wrong or lazy kernel could have produced. They are judged like a
candidate's; which of them pass under which tolerance is decided elsewhere.
"""
import copy

import torch

from cawb_host.torch.mode import Mode
from cawb_host.torch import operators
from cawb_host.judge.compare.gpu import Readback
from cawb_host.judge.compare.gpu_output import rows_of_bytes
from cawb_host.judge.task.runner import strict
from cawb_host.base.tensors import mapped

POISON = 0x7ff87ff8


def rounded(tensor, bits):
    """With so many bits of the mantissa behind the first, ties away from zero."""
    if tensor.dtype != torch.float32:
        return tensor
    drop = 23 - bits
    whole = tensor.contiguous().view(torch.int32)
    return ((whole + (1 << drop - 1)) & -(1 << drop)).view(torch.float32)


class Narrow(Mode):
    """Products take their factors rounded; added terms do not change."""

    def __init__(self, bits):
        super().__init__()
        self.bits, self.hit = bits, False

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        row = operators.of(func)
        if row.products:
            self.hit = True
            args = [a if schema.name in row.linear else mapped(a, self.narrow)
                    for schema, a in zip(func._schema.arguments, args)]
        return func(*args, **kwargs)

    def narrow(self, tensor):
        return rounded(tensor, self.bits)


class TensorCores:
    """TF32 as the GPU has it."""
    hit = True

    def __enter__(self):
        torch.backends.cuda.matmul.allow_tf32 = True
        torch.backends.cudnn.allow_tf32 = True

    def __exit__(self, *_):
        strict()


class Without(Mode):
    """Products forget the last term of every sum, sums the last element of every row."""

    def __init__(self):
        super().__init__()
        self.hit = False

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        row = operators.of(func)
        tensors = [i for i, a in enumerate(args) if isinstance(a, torch.Tensor) and a.dim() > 0]
        at = None
        if row.kind == "matmul" and len(tensors) >= 2:
            at, dim = tensors[-2], -1
        elif row.kind == "convolution" and len(tensors) >= 2:
            at, dim = tensors[0], 1
        elif row.terms and tensors:
            at, dim = tensors[0], reduced(func, args, kwargs)
        if at is not None and args[at].is_floating_point() and args[at].shape[dim] > 1:
            short = args[at].clone()
            short.select(dim, -1).zero_()
            args = args[:at] + (short,) + args[at + 1:]
            self.hit = True
        return func(*args, **kwargs)


def reduced(func, args, kwargs):
    """The dimension that an operator sums over, or the last one."""
    at = [a.name for a in func._schema.arguments].index("dim") if takes_dim(func) else len(args)
    dim = args[at] if len(args) > at else kwargs.get("dim")
    if isinstance(dim, (list, tuple)):
        dim = dim[0] if dim else None
    return dim if isinstance(dim, int) and not isinstance(dim, bool) and \
        -args[0].dim() <= dim < args[0].dim() else -1


def takes_dim(func):
    return any(a.name == "dim" for a in func._schema.arguments)


class Mutants:
    """Of one trial: name -> outputs, or None where there is no such mutant."""

    def __init__(self, runner, trial):
        self.runner, self.trial = runner, trial
        self.eager = [t for _, t in runner.forward(trial.inputs, trial.seed)]

    def make(self, name):
        return getattr(self, name)()

    def each(self, change):
        return [change(t) if t.is_floating_point() else t for t in self.eager]

    def zeros(self):
        return [torch.zeros_like(t) for t in self.eager]

    def mean(self):
        return self.each(lambda t: torch.full_like(t, float(finite_mean(t))))

    def identity(self):
        """The first input of each output's shape, if there is one."""
        found = []
        for out in self.eager:
            alike = [t for t, _ in self.trial.leaves() if t.shape == out.shape and t.dtype == out.dtype]
            if not alike:
                return None
            found.append(alike[0])
        return found

    def tf32(self):
        if not self.wide_enough():
            return None
        mode = TensorCores() if self.runner.device.type == "cuda" else Narrow(10)
        found = self.call(self.runner.copy(), self.trial.inputs, mode)
        return found if mode.hit else None

    def bf16(self):
        """Factors of products; where there are none, inputs and parameters."""
        if not self.wide_enough():
            return None
        mode = Narrow(7)
        found = self.call(self.runner.copy(), self.trial.inputs, mode)
        if mode.hit:
            return found
        module = copy.deepcopy(self.runner.module)    # parameters too
        for tensor in list(module.parameters()) + list(module.buffers()):
            tensor.data = rounded(tensor.data, 7)
        return self.call(module, mapped(self.trial.inputs, lambda t: rounded(t, 7)))

    def wide_enough(self):
        return any(t.dtype == torch.float32 for t in self.eager)

    def drop_last(self):
        mode = Without()
        found = self.call(self.runner.copy(), self.trial.inputs, mode)
        return found if mode.hit else None

    def call(self, module, inputs, mode=None):
        inputs = mapped(inputs, lambda t: t.clone())
        return [t for _, t in self.runner.call(module, inputs, self.trial.seed, mode)]

    def skip_row(self):
        """One row is its neighbour's."""
        if not any(t.dim() > 0 and t.shape[0] > 1 for t in self.eager):
            return None
        found = [t.clone() for t in self.eager]
        for t in found:
            if t.dim() > 0 and t.shape[0] > 1:
                row = self.trial.seed % (t.shape[0] - 1)
                t[row + 1] = t[row].clone()
        return found

    def constant(self):
        """The outputs of another seed's inputs."""
        seed = self.trial.seed ^ 1
        return [t for _, t in self.runner.forward(self.runner.inputs(seed), seed)]


NAMES = ("zeros", "mean", "identity", "tf32", "bf16", "drop_last", "skip_row", "constant")


def finite_mean(tensor):
    return torch.nan_to_num(tensor.to(torch.float64), nan=0.0, posinf=0.0, neginf=0.0).mean()


def same(a, b):
    return all(torch.equal(x, y) for x, y in zip(a, b))


def judge(work, trial, names):
    """{ "mutants": { name: entries }, "left_out": { name: why }, "reference": ..., "unfit": why the inputs say nothing, where they do not }."""
    expected, mutants = work.expected(trial), Mutants(work.runner, trial)
    found, left_out = {}, {}
    for name in names or NAMES:
        outputs = mutants.make(name)
        if outputs is None:
            left_out[name] = "there is none of this task"
        elif same(outputs, mutants.eager):
            left_out[name] = "it is what PyTorch computes"
        else:
            found[name] = entries(expected, outputs)
    found["eager"] = entries(expected, mutants.eager)
    unfit = trial.unfit()
    return {"mutants": found, "left_out": left_out, "reference": trial.precision, **({"unfit": unfit} if unfit else {})}


def entries(expected, outputs):
    back = Readback()
    begun = [e.begin(rows_of_bytes(t.contiguous()), POISON, back) for e, t in zip(expected, outputs)]
    back.read()
    return [e.finish(b, back)[0] for e, b in zip(expected, begun)]
