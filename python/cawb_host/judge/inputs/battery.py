"""Inputs that a task never announced. They show errors that the habits of its own generator hide.

With inputs of one sign a sum that forgets its last term is right to four digits. A maximum that begins at 0 is right for all rows
except those below 0. A case says which kind of input dominates. Sign, scale, place and mixture are drawn anew within each input,
so that no value tells the case. Tensors keep shape, strides and type. whole_numbers.py draws whole numbers and masks.

A task need not accept every number: probabilities lie between 0 and 1, and an index may be held as a float. And with
numbers far from its own, two right programs may disagree. If the task's own reference cannot deal with the inputs, they are drawn
once more, and then nearer to its own from level to level. trials.py takes the first level that works.
"""
import math

import torch

from cawb_host.judge.inputs import places
from cawb_host.judge.inputs.meeting import Scene, meets
from cawb_host.judge.inputs import whole_numbers
from cawb_host.judge.inputs.draws import (again, all_but_one, blemished, both_signs, chance, echoed, either, few_levels, few_of, heavy_tailed, leaning,
                              near_levels, nearly, normal, nothing, one_sign, planted, power, spread, spread_of, swept,
                              the_same, topped, uniform)
from cawb_host.base.fault import Fault
from cawb_host.base.tensors import STORED, flat, mapped

LEVELS = ("free", "again", "within", "given")   # any number; others; as large as the task's own; as it draws whole ones

LARGEST = {torch.float16: 64.0, torch.bfloat16: 2.0 ** 13}   # of one element; its square must be far from overflow
HUGE = {torch.float16: 1e3, torch.bfloat16: 1e15, torch.float32: 1e15, torch.float64: 1e150}
TINY = {torch.float16: 1e-6, torch.bfloat16: 1e-39, torch.float32: 1e-39, torch.float64: 1e-309}
for narrow in STORED:                    # of 8 bits; the largest are 448 and 57344
    LARGEST[narrow], HUGE[narrow], TINY[narrow] = 64.0, 64.0, 2.0 ** -9
ANYWHERE = LEVELS[:2]
MINUTE = 0.2                             # share of rows in `heavy` that are far below all others
SHORT, LONG, PARTS = 8, 1024, 8          # a run of rows, a row alone, and what it is cut into


def largest(like):
    return LARGEST.get(like.dtype, 2.0 ** 14)


def grid(like):
    """Rows and columns that the memory is filled in: a row is a run of the last dimension, or of
    several where it is short, or a part of the only one."""
    size = flat(like).numel()
    cols = max(1, like.shape[-1]) if like.dim() else 1
    if cols < SHORT:
        cols *= -(-32 // cols)
    elif size <= cols and cols >= LONG:
        cols = -(-cols // PARTS)
    return -(-size // cols), cols


def cut(like, made):
    return made.reshape(-1)[:flat(like).numel()]


def mixture(like, kinds):
    """Rows of kinds by their shares; of many rows at least one each. `kinds` are pairs."""
    rows, cols = grid(like)
    shares = torch.tensor([share for _, share in kinds], dtype=torch.float64).cumsum(0)
    which = torch.bucketize(torch.rand(rows, dtype=torch.float64) * shares[-1], shares[:-1], right=True)
    if rows >= 2 * len(kinds):
        which[torch.randperm(rows)[:len(kinds)]] = torch.arange(len(kinds))
    made = torch.empty(rows, cols, dtype=torch.float64)
    for number, (kind, _) in enumerate(kinds):
        at = (which == number).nonzero().squeeze(1)
        if at.numel():
            made[at] = given_rows(like, at, rows, cols) if kind is None else kind(at.numel(), cols)
    return made, which


def given_rows(like, at, rows, cols):
    """Rows of the task's own, not larger than others."""
    own = torch.zeros(rows * cols, dtype=torch.float64)
    own[:flat(like).numel()] = flat(like)
    own = own.view(rows, cols)[at].nan_to_num_(nan=0.0, posinf=0.0, neginf=0.0)
    return own / own.abs().amax(1, keepdim=True).clamp(min=1e-30)


WELL = ((both_signs, 5), (one_sign, 2), (heavy_tailed, 1), (leaning, 1), (None, 1), (few_levels, 0.3), (nearly, 1))
LEANS, OWN, NEARLY = 3, 4, 6             # places there
DEGENERATE = ((the_same, 3), (all_but_one, 3), (few_levels, 2), (near_levels, 1), (nothing, 1))


def of_one_sign(made):
    """All of it below zero, or above; or as it is."""
    sign = float(torch.rand(()))
    return -made.abs() if sign < 0.5 else made.abs() if sign < 0.7 else made


# Cases: each makes what lies in a tensor's memory, wide: what it is scaled by is rounded once

def mixed(like):
    """Both signs and one; each row has a scale of its own, a quarter to four times: spread evenly,
    so that of two rows one is small."""
    made, which = mixture(like, WELL)
    powers = 4 * spread(made.shape[0]) - 2
    powers = torch.where(which == LEANS, (powers.floor() - 1).clamp_(max=0), powers)
    powers = torch.where(which == NEARLY, powers.round().abs(), powers)      # whole numbers stay whole
    own = (which == OWN).nonzero().squeeze(1)
    own = own[torch.rand(own.shape) < 0.5]
    made[own] = blemished(made[own])
    made = planted(made) * torch.exp2(powers).unsqueeze(1)
    return cut(like, echoed(made, echoing(which)))


def echoing(which):
    """Some rows of the kind that there are most of, where there are a few rows."""
    at = (which[1:] == 0).nonzero().squeeze(1) + 1
    return at[torch.randperm(at.numel())[:1 + len(which) // 16]] if len(which) >= 4 else at[:0]


def positive(like):
    """From 0 to 1: these numbers hide most errors."""
    return torch.rand(flat(like).shape, dtype=torch.float64)


def integers(like):
    """Rows of small whole numbers; others from 0 to 1, multiples of an eighth or a 32nd."""
    rows, cols = grid(like)
    narrow = like.element_size() <= 2
    most = int(torch.randint(2, 5, ()))
    parts = 8 if narrow or chance(0.5) else 32
    made = torch.randint(-most, most + 1, (rows, cols)).to(torch.float64)
    shares = torch.randint(parts, (rows, cols)).to(torch.float64) / parts
    return cut(like, torch.where(spread(rows).unsqueeze(1) < (0.5 if rows > 1 else float(chance(0.5))), shares, made))


def ties(like):
    """Few values, far apart or next to one another: largest and smallest come many times, or
    nearly, and not always at the front. Rows and columns that are nearly another's make what is
    computed from them tie."""
    made, _ = mixture(like, ((few_levels, 2), (near_levels, 2), (topped, 4), (all_but_one, 1), (both_signs, 2)))
    below = made.amax(1, keepdim=True).clamp(min=0) * (1 + torch.rand(made.shape[0], 1))
    made = cut(like, torch.where(torch.rand(made.shape[0], 1) < 0.4, made - below, made))
    if like.dim() < 2 or not like.is_contiguous():
        return made
    shaped = made.reshape(-1, like.shape[-1]).contiguous()
    paired(shaped)
    paired(shaped.t())
    return shaped.reshape(-1)


def paired(rows):
    """Let some rows be nearly the one before them."""
    at = (torch.rand(max(1, rows.shape[0] // 2)) < 0.5).nonzero().squeeze(1) * 2
    at = at[at + 1 < rows.shape[0]]
    if at.numel():
        near = 1 + normal(at.numel(), rows.shape[1]) * power(-14, -9, at.numel(), 1)
        rows[at + 1] = rows[at] * near


def heavy(like):
    """A weight for each element, and often one sign; rows from a thousandth to eight in size."""
    made, which = mixture(like, ((swept, 2), (heavy_tailed, 3), (one_sign, 2), (all_but_one, 0.5)))
    low, high = (-4, 2) if like.element_size() <= 2 else (-10, 3)
    scales = torch.exp2((high - low) * spread(made.shape[0]) + low)
    scales = torch.where(which == 0, 1.0, scales)
    if like.dtype != torch.float16 and like.element_size() > 1:      # some rows are minute, and no number is denormal
        minute = torch.randperm(len(made))[:max(3 * (len(made) >= 6), int(len(made) >= 4 or chance(MINUTE)), int(MINUTE * len(made)))]
        scales[minute] = torch.exp2(28 * spread(len(minute)) - 40)       # some below a type's roundoff, some above
    return cut(like, of_one_sign(made) * scales.unsqueeze(1))


def outlier(like):
    """Some elements stand out, all others are small; or one, and there is nothing else."""
    rows, cols = grid(like)
    small = 0.0 if chance(0.15) else float(power(-14, -2))
    made = normal(rows, cols) * small
    if not made.numel():
        return cut(like, made)
    count = 1 if chance(0.25) else max(1, int(rows * float(uniform(0.2, 2))))
    chosen = torch.randint(flat(like).numel(), (count,))
    sizes = power(2, math.log2(largest(like)), count)
    made.view(-1)[chosen] = sizes * (either(1) if chance(0.25) else either(count))
    return cut(like, made)


def edges(like):
    """More weight in each last place of a dimension, and in another place, so that left-out places show."""
    made = cut(like, both_signs(*grid(like)))
    made = of_one_sign(made) if chance(0.4) else made
    shape = [1 if step == 0 else size for size, step in zip(like.shape, like.stride())]
    made = made.contiguous()
    shaped = made.as_strided(shape, like.stride())
    if torch._debug_has_internal_overlap(shaped) == 1:      # windows of one memory
        return made
    for dim, size in enumerate(shape):
        if size > 1:
            more = float(uniform(3, 12)) * float(either())
            shaped.select(dim, -1).add_(more)
            shaped.select(dim, int(torch.randint(size, ()))).sub_(more / 2)
    return repeated(made, shaped)


def repeated(made, shaped):
    """One slice of a dimension is the one before it but for a few elements."""
    long = [d for d, size in enumerate(shaped.shape) if size >= 4]
    if long:
        dim = long[int(torch.randint(len(long), ()))]
        at = int(torch.randint(1, shaped.shape[dim] - 1, ()))
        before, there = shaped.select(dim, at - 1), shaped.select(dim, at)
        few = few_of(1, before.numel()).view(before.shape)
        there.copy_(torch.where(few, before + either(*before.shape) * power(0, 2, *before.shape), before))
    return made


def zeros(like):
    return torch.zeros(flat(like).shape, dtype=torch.float64)


def constant(like):
    """Rows of one value, of one but for an element, of few; of nothing."""
    made, _ = mixture(like, DEGENERATE)
    return cut(like, of_one_sign(made) * power(-6, 3, made.shape[0]).unsqueeze(1))


def almost(like):
    """Rows of something simple, of the task's own, or of the row before, but for a few elements: who looks at some
    takes them for that. The task's own are as it has them."""
    rows, cols = grid(like)
    made, part = nearly(rows, cols), (torch.randperm(rows) + torch.randint(6, ())) % 6
    at = (part == 4).nonzero().squeeze(1)
    if at.numel():
        made[at] = blemished(given_rows(like, at, rows, cols) * min(largest(like), as_large(like)))
    at = (part == 5).nonzero().squeeze(1)
    return cut(like, echoed(made, at[at > 0]))


def as_large(like):
    """The largest finite element."""
    low, high, _ = limits(flat(like))
    return max(abs(low), abs(high)) if low <= high else 1.0


def offset(like):
    """Far from zero beside how much it varies; mostly on one side. Half of the rows are as large as they are
    far; the others are as far as the first ones at most, and of any size, so that neither tells the other."""
    rows, cols = grid(like)
    low, high = (1, 4) if like.element_size() <= 2 else (3, 11)
    signs = torch.where(spread(rows).unsqueeze(1) < 0.6, -1.0, 1.0)
    if rows == 1 or chance(0.3):
        signs = torch.full_like(signs, -1.0 if rows > 1 or chance(0.8) else 1.0)
    small = spread(rows) < (0.5 if rows > 1 else float(chance(0.3)))
    octaves = torch.where(small, high - 1.5 + 2 * spread_of(small), low + (high - low) * spread_of(~small))
    made = normal(rows, cols) * power(-1, 1, rows, 1) + torch.exp2(octaves).unsqueeze(1) * signs
    return cut(like, made * torch.exp2(torch.where(small, -high * spread_of(small), 0.0)).unsqueeze(1))


def scales(like):
    """Rows of every size from 1 to where a square of their squares is far from overflow. Where there are few, one alone
    may be of the largest size: most of those that are all positive get some elements below zero."""
    made, _ = mixture(like, SCATTERED)
    positive_rows = (made >= 0).all(1, keepdim=True) & (torch.rand(made.shape[0], 1) < 0.75)
    made = torch.where(positive_rows & (torch.rand(made.shape) < 0.125), -made, made)
    high = 6 if like.element_size() <= 2 and like.dtype != torch.bfloat16 else 24
    return cut(like, made * torch.exp2(high * spread(made.shape[0])).unsqueeze(1))


def huge(like):
    return normal(*flat(like).shape) * HUGE[like.dtype]


def tiny(like):
    return normal(*flat(like).shape) * TINY[like.dtype]


def strewn(like, values):
    """Mostly numbers; each of the values in a few places."""
    made = mixed(like).contiguous()
    for value in values:
        for _ in range(min(int(torch.randint(1, 6, ())), made.numel())):
            made[int(torch.randint(made.numel(), ()))] = value
    return made


def nonfinite(like):
    """NaN and infinities of both signs in some places."""
    return strewn(like, (float("nan"), float("inf"), float("-inf")))


def nan(like):
    return strewn(like, (float("nan"),))


WHOLE = (edges, outlier, nonfinite, nan)    # all others are made in parts, where there is much of them
STRANGE = ("nonfinite", "nan")           # where a reference need not be finite
PIECE, DRAWN = 1 << 26, 4                # elements, and how many pieces of a tensor are drawn anew
CASES = {f.__name__: f for f in (mixed, positive, integers, edges, almost, ties, heavy, outlier, zeros, constant, offset, scales, huge,
                                 tiny, nonfinite, nan)}


def fill(place, like, make, put=torch.Tensor.copy_, most=None):
    """In pieces of whole rows where there is much of it: in float64 it would be twice as much. Further than `most` they repeat rows
    of the first. `put` does something else with what is there than to replace it. `place` is a vector."""
    cols = max(1, like.shape[-1]) if like.dim() else 1
    rows = max(1, PIECE // cols)
    if make in WHOLE or place.numel() <= rows * cols:
        put(place, make(like))
        return
    for number, start in enumerate(range(0, place.numel(), rows * cols)):
        part, given = (t[start:start + rows * cols] for t in (place, flat(like) if like.device.type != "meta" else place))
        if most and number >= most:
            again(part, place[:most * rows * cols], cols)
        else:
            put(part, make(given.view(-1, cols) if given.numel() % cols == 0 else given))


def reach(place, like):
    """Moves drawn numbers to between the task's own smallest and largest; where the task has whole numbers they
    stay whole. It works in pieces, because memory may not hold a wide copy of a large input."""
    own = flat(like)
    low, high, whole_ones = limits(own)
    if low > high:
        return
    if low == high:
        place.copy_(own)
        return
    least, most, _ = limits(place, zeros_for_odd=True)
    same = float(torch.rand(())) if most <= least else None
    for part in place.split(PIECE):
        share = (part.to(torch.float64) - least) / (most - least) if same is None else torch.full_like(part, same, dtype=torch.float64)
        made = low + (high - low) * share
        part.copy_((made.round_() if whole_ones else made).clamp_(low, high))


def limits(vector, zeros_for_odd=False):
    """The smallest and the largest finite element of a vector, and whether all are whole. If none is finite, the first is
    larger than the second. Elements that are not finite may count as zero."""
    low, high, whole_ones = math.inf, -math.inf, True
    for part in vector.split(PIECE):
        part = part.to(torch.float64)          # numbers of 8 bits have no isfinite of their own
        finite = torch.isfinite(part)
        if zeros_for_odd:
            part, finite = torch.where(finite, part, 0.0), torch.ones_like(finite)
        if part.numel() and bool(finite.any()):
            low = min(low, float(torch.where(finite, part, math.inf).min()))
            high = max(high, float(torch.where(finite, part, -math.inf).max()))
            whole_ones = whole_ones and bool((torch.where(finite, part, 0.0).frac() == 0).all())
    return low, high, whole_ones


def in_order(made, like):
    """Rows that ascend where the task's own do."""
    own = like.to(torch.float64)
    if like.dim() and like.shape[-1] > 1 and bool((own[..., 1:] >= own[..., :-1]).all()):
        return made.copy_(made.to(torch.float64).sort(-1).values)
    return made


def drawn(case, tensor, choices):
    """A tensor of one case; `choices` are for places.py, with a seed."""
    made = torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device=tensor.device)
    stage = places.stage_of(case)
    if not stage or torch._debug_has_internal_overlap(made) == 1 or not made.numel():
        fill(flat(made), tensor, CASES["mixed" if stage else case], most=DRAWN)
        return made
    plan, seed = choices
    rows = mixture_of(SCATTERED)
    return made.copy_(places.fill(tensor, plan, stage, seed, rows))


def mixture_of(kinds):
    """What makes so many rows of these kinds."""
    def rows_of(rows, cols):
        made, _ = mixture(torch.empty(rows, cols, device="meta"), kinds)    # its rows may be longer or shorter
        return made.reshape(-1)[:rows * cols].view(rows, cols)
    return rows_of


SCATTERED = ((both_signs, 5), (one_sign, 2), (heavy_tailed, 1), (few_levels, 0.5))


def apply(case, inputs, level="free", scene=Scene(), choices=None):
    """Inputs of one case, from torch's generator as it stands; the task's own without one. `choices` see drawn()."""
    if case is None:
        return inputs
    if case not in CASES and not (places.stage_of(case) and choices):
        raise Fault("invalid", "there is no case '%s' (there are %s)" % (case, ", ".join(CASES)))
    if choices:                          # stages share a seed, and no more
        torch.manual_seed((choices[1] + 0x9e3779b97f4a7c15 * places.stage_of(case)) & ((1 << 62) - 1))
    if level == "again":
        torch.manual_seed(int(torch.randint(1 << 62, ())))

    number, floats = iter(range(1 << 30)), []
    mapped(inputs, lambda t: floats.append(t) if t.is_floating_point() else None)

    def change(tensor):
        at = next(number)
        if not tensor.is_floating_point():
            if level == "free" and at in scene.data and not (case == "integers" and floats):     # there all is exact
                return whole_numbers.by_type(tensor)
            return tensor if level == "given" else whole_numbers.drawn(tensor, at in scene.fixed, scene.tables.get(at))
        made = drawn(case, tensor, choices)
        if level in ANYWHERE:
            made = meets(case, tensor, made, scene, floats, largest(tensor))
        if level not in ANYWHERE:
            reach(flat(made), tensor)
        return in_order(made, tensor) if level == "given" else made

    return mapped(inputs, change)
