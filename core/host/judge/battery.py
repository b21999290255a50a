"""Inputs that a task never announced: what its own generator's habits hide.

With inputs of one sign a sum that forgets its last term is right to four digits, and
rounding to TF32 averages out. Each case replaces the floating-point tensors among the
inputs by others of the same shape, strides and type, drawn from the trial's seed; whole
numbers and masks stay, they are often indices.
"""
import torch

from host.wire.fault import Fault
from host.wire.tensors import flat, mapped

OUTLIER = {torch.float16: 64.0}          # else 1e4; its square must stay below 65504
HUGE = {torch.float16: 1e3, torch.bfloat16: 1e15, torch.float32: 1e15, torch.float64: 1e150}
TINY = {torch.float16: 1e-6, torch.bfloat16: 1e-39, torch.float32: 1e-39, torch.float64: 1e-309}


def normal(like):
    """In the memory's order, and wide: what it is scaled by is rounded once."""
    return torch.randn(flat(like).shape, dtype=torch.float64)


def per_row(like, values):
    """One of `values(rows)` for each run of the last dimension's length."""
    size = flat(like).numel()
    cols = max(1, like.shape[-1]) if like.dim() else 1
    rows = (size + cols - 1) // cols
    return values(rows).repeat_interleave(cols)[:size]


def spread(count):
    """Numbers from 0 to 1 in any order, one from each of as many parts."""
    return (torch.randperm(count) + torch.rand(count, dtype=torch.float64)) / max(1, count)


def mixed(like):
    """Both signs; each row has a scale of its own, a quarter to four times: spread evenly, so
    that of two rows one is small."""
    scale = per_row(like, lambda n: 2 ** (4 * spread(n) - 2))
    shift = per_row(like, lambda n: torch.randn(n, dtype=torch.float64) / 4)
    return (normal(like) + shift) * scale


def positive(like):
    """From 0 to 1: what hides most."""
    return torch.rand(flat(like).shape, dtype=torch.float64)


def integers(like):
    return torch.randint(-4, 5, flat(like).shape).to(torch.float64)


def eighths(like):
    """Few bits: sums of some are exact in every type."""
    return (normal(like) * 8).round_().clamp_(-32, 32) / 8


def ties(like):
    """Three values, so that largest and smallest come many times."""
    levels = torch.randn(3, dtype=torch.float64)
    return levels[torch.randint(3, flat(like).shape)]


def outlier(like):
    made = torch.zeros(flat(like).shape, dtype=torch.float64)
    if made.numel():
        made[int(torch.randint(made.numel(), ()))] = OUTLIER.get(like.dtype, 1e4)
    return made


def edges(like):
    """Six more in each last place of a dimension: a tail that was left out is missed."""
    made = normal(like)
    shape = [1 if step == 0 else size for size, step in zip(like.shape, like.stride())]
    shaped = made.as_strided(shape, like.stride())
    if torch._debug_has_internal_overlap(shaped) == 1:      # windows of one memory
        return made
    for dim, size in enumerate(shape):
        if size > 1:
            shaped.select(dim, -1).add_(6)
    return made


def zeros(like):
    return torch.zeros(flat(like).shape, dtype=torch.float64)


def offset(like):
    return normal(like) + (16 if like.element_size() == 2 else 1000)


def huge(like):
    return normal(like) * HUGE[like.dtype]


def tiny(like):
    return normal(like) * TINY[like.dtype]


def nonfinite(like):
    """Mostly numbers; a NaN, infinities of both signs in three places each at most."""
    made = normal(like)
    for value in (float("nan"), float("inf"), float("-inf")):
        for _ in range(min(3, made.numel())):
            made[int(torch.randint(made.numel(), ()))] = value
    return made


def nan(like):
    """Mostly numbers; NaN in three places at most."""
    made = normal(like)
    for _ in range(min(3, made.numel())):
        made[int(torch.randint(made.numel(), ()))] = float("nan")
    return made


BY_ROWS = (mixed, positive, integers, eighths, zeros, offset, huge, tiny)    # any part is like the whole
PIECE = 1 << 26                          # elements

CASES = {f.__name__: f for f in (mixed, positive, integers, edges, ties, outlier, zeros, offset, huge,
                                 tiny, nonfinite, nan)}


def fill(place, like, make, put=torch.Tensor.copy_):
    """In pieces of whole rows where there is much of it: in float64 it would be twice as much.
    `put` does something else with what is there than to replace it."""
    cols = max(1, like.shape[-1]) if like.dim() else 1
    rows = max(1, PIECE // cols)
    if make not in BY_ROWS or place.numel() <= rows * cols:
        put(place, make(like))
        return
    for start in range(0, place.numel(), rows * cols):
        part = place[start:start + rows * cols]
        put(part, make(part.view(-1, cols) if part.numel() % cols == 0 else part))


def apply(case, inputs):
    """Inputs of one case, from torch's generator as it stands; the task's own without one."""
    if case is None:
        return inputs
    if case not in CASES:
        raise Fault("invalid", "there is no case '%s' (there are %s)" % (case, ", ".join(CASES)))

    def change(tensor):
        if not tensor.is_floating_point():
            return tensor
        made = torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype,
                                   device=tensor.device)
        fill(flat(made), tensor, CASES[case])
        return made

    return mapped(inputs, change)
