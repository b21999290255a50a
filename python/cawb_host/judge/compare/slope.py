"""An error that every element has, such as a factor of 1.003: the regression of the error on the reference.

Rounding goes up and down: over n elements it comes to a roundoff divided by the root of n. An output in 16 bits may be off by
that type's roundoff in each element, and hides a factor there that the regression shows. The error counts from the rounded
reference: a kernel that rounds once is off by nothing, whatever values repeat or lie on the type's grid.

All of an output may be made of few intermediate results, as where a running sum follows attention, and a flattened output hides
which elements share one. A forward that holds no more than 16 bits rounds these results. Eager PyTorch's roundings are one draw;
references that round at random show how far another draw may lie. Some round on other grids. Others round on the type's own grid, but not all
results, as a fused kernel does: beside a number that all elements share, what is left to round may be the same for many of them.
"""
import math

import torch

from cawb_host.judge.compare.decided import Rounds, unmoved
from cawb_host.torch.mode import Mode
from cawb_host.torch.recorder import tensors_in

MOST = 1 << 16                           # elements that are looked at
GROUPS = 1 << 15                         # magnitudes of a type of 16 bits
PROBES = 8                               # references of each kind that round at random
DOUBTFUL, SOME = 0.04, 4                 # of a type's eps, and standard errors: below these no slope is in doubt
KEYS = ("factor", "offset")


def step_of(numel):
    """Between elements that are looked at: without a factor in common with any dimension, so that each index of each is met."""
    step = max(1, numel // MOST)
    while math.gcd(step, numel) != 1:
        step += 1
    return step


def sampled(tensor):
    return tensor.reshape(-1)[::step_of(tensor.numel())].to(torch.float64)


def by_index(shape, sums, total):
    """The noise of (factor, offset) if all elements of one index along a dimension share an error, as the rows of a sum do: standard errors
    robust to clusters, around what all have, for the dimension with the most. `sums`: (d ref, d, ref^2, 1) of each element looked at."""
    worst, inner = torch.zeros(2, dtype=torch.float64, device=sums.device), math.prod(shape)
    places = torch.arange(sums.shape[1], device=sums.device) * step_of(inner)
    for size in shape:
        inner //= size
        if size > 1:
            each = torch.zeros(4, size, dtype=torch.float64, device=sums.device).index_add_(1, places // inner % size, sums)
            rest = each[:2] - each[2:] * (total[:2] / total[2:].clamp(min=1e-300)).unsqueeze(1)
            worst = torch.maximum(worst, rest.norm(dim=1) * math.sqrt(size / (size - 1)))
    return worst


def of(out, reference):
    """(factor, offset beside the root mean square, the noise of each, magnitudes that count), as tensors where `out` lies. What is rounded to
    one number may all be rounded up, so the noise is that of sums by magnitude, or by index: standard errors robust to clusters."""
    ref, got = sampled(reference), sampled(out)
    rounded = ref.to(out.dtype)
    both = rounded.isfinite() & got.isfinite()
    ref, rounded = torch.where(both, ref, 0.0), torch.where(both, rounded, 0.0)
    d = torch.where(both, got - rounded.to(torch.float64), 0.0)
    top = ref.abs().max()
    some = top > 0                                   # else no element counts that has a size
    ref, d = torch.where(some, ref / top, 0.0), torch.where(some, d / top, 0.0)      # squares of squares stay finite
    each = torch.stack((d * ref, d, ref * ref, both.to(torch.float64)))
    sums = torch.zeros(4, GROUPS, dtype=torch.float64, device=ref.device)
    sums.index_add_(1, rounded.abs().view(torch.int16).to(torch.int64), each)
    total = sums.sum(1)
    square = total[2].clamp(min=1e-300)
    sizes = torch.stack((square, (square * total[3].clamp(min=1)).sqrt()))
    count = square * square / sums[2].square().sum().clamp(min=1e-300)
    noise = torch.maximum(sums[:2].norm(dim=1), by_index(out.shape, each, total))
    return torch.cat((total[:2] / sizes, noise / sizes, count.reshape(1)))


def of_eager(eager, reference):
    """The same of eager PyTorch's output of 16 bits. None of wider outputs, which are held to less than such a factor anyway."""
    if not eager.dtype.is_floating_point or eager.dtype.itemsize != 2 or not eager.numel():
        return None
    return of(eager, reference)


def numbers(found):
    return dict(zip(("factor", "offset", "factor_noise", "offset_noise", "magnitudes"), found.tolist()))


class Once(Rounds):
    """Rounds what the type cannot hold once, on a grid of another scale for each result: equal numbers stay equal, as rounded ones do."""

    def move(self, tensor):
        if tensor.dtype == torch.float64 and tensor.numel():
            scale = 2 ** torch.rand((), generator=self.generator, device=tensor.device, dtype=torch.float64)
            other = (tensor * scale).to(self.dtype).to(torch.float64) / scale
            tensor.copy_(torch.where((tensor.to(self.dtype) != tensor) & other.isfinite(), other, tensor))


class Partly(Rounds):
    """Rounds a result as the type does, or keeps it as it is."""

    def move(self, tensor):
        if tensor.dtype == torch.float64 and torch.rand((), generator=self.generator, device=tensor.device) < 0.5:
            rounded = tensor.to(self.dtype).to(torch.float64)
            tensor.copy_(torch.where(rounded.isfinite(), rounded, tensor))


class Keeps(Mode):
    """Whether an operator's result holds more than the type can. Further results are statistics kept for training."""

    def __init__(self, dtype):
        super().__init__()
        self.dtype, self.more = dtype, False

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        made = func(*args, **(kwargs or {}))
        first = next(iter(tensors_in(made)), None)
        if first is not None and first.is_floating_point() and not self.more:
            found = first.to(torch.float64)                        # numbers of 8 bits are compared with no other type
            self.more = bool(((found.to(self.dtype) != found) & found.isfinite()).any())
        return made


def drawn(runner, inputs, seed, expected, at, kind, dtype):
    """(factor, offset) of references that round in one way, by output: root mean squares."""
    squares = dict.fromkeys(at, 0)
    for probe in range(PROBES):
        outs = runner.forward_near(inputs, seed, unmoved, kind(dtype, runner.device, seed + probe))
        for i in at:
            e = expected[i]
            squares[i] = squares[i] + of(e.apart.without(outs[i][1]).to(e.dtype), e.reference)[:2].square()
    return {i: (s / PROBES).sqrt() for i, s in squares.items()}


def rounded(runner, inputs, seed, expected):
    """(factor, offset) of references that round the results of operators at random, by output of 16 bits: of each kind of them the root mean
    square, and of these the larger. Empty where a forward computes on with more than 16 bits: a right kernel does, too."""
    at = [i for i, e in enumerate(expected) if e.eager_slope is not None]
    dtype = min((expected[i].dtype for i in at), key=lambda t: torch.finfo(t).eps)
    keeps = Keeps(dtype)
    runner.forward(inputs, seed, keeps)
    if keeps.more:
        return {}
    once, partly = (drawn(runner, inputs, seed, expected, at, kind, dtype) for kind in (Once, Partly))
    return {i: torch.maximum(once[i], partly[i]).tolist() for i in at}


def doubtful(found, dtype):
    return any(abs(found[k]) > max(DOUBTFUL * torch.finfo(dtype).eps, SOME * found[k + "_noise"]) for k in KEYS)


def note(trial, entries, slot_of):
    """Notes what outputs of 16 bits come to."""
    for i, e in enumerate(trial.expected()):
        if e.eager_slope is not None:
            for slot, entry in enumerate(entries[i]):
                found = numbers(of(e.apart.without(slot_of(i, slot)), e.reference))
                if doubtful(found, e.dtype):
                    found.update(zip(("factor_rounded", "offset_rounded"), trial.rounded().get(i, ())))
                entry["slope"] = dict(found, eager=numbers(e.eager_slope))
