"""An error that every element has, such as a factor of 1.003: the regression of the error on the reference.

Rounding goes up and down: over n elements it comes to a roundoff divided by the root of n. An output in 16 bits may be off by
that type's roundoff in each element, and hides a factor there that the regression shows. The error counts from the rounded
reference: a kernel that rounds once is off by nothing, whatever values repeat or lie on the type's grid.
"""
import math

import torch

MOST = 1 << 16                           # elements that are looked at
GROUPS = 1 << 15                         # magnitudes of a type of 16 bits


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


def note(expected, entries, slot_of):
    """Notes what outputs of 16 bits come to."""
    for i, e in enumerate(expected):
        if e.eager_slope is not None:
            for slot, entry in enumerate(entries[i]):
                entry["slope"] = dict(numbers(of(e.apart.without(slot_of(i, slot)), e.reference)), eager=numbers(e.eager_slope))
