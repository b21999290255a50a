"""Inputs of whole numbers and masks that a task never announced.

An index or a label may be anything that the task's own are: they stay between the smallest
and the largest of those. Where a row's are all different they stay so, in another order. Where they
ascend (offsets, lengths) they go on to do so, unless they are the same for every seed: then
nothing but reading them shows which they are. A mask allows other places, in each row at least
one where it always did. Some rows are the task's own but for a few places, so that who looks at some of
them does not know the rest.
"""
import torch

from cawb_host.judge.inputs.draws import few_of
from cawb_host.base.tensors import flat

LIKE, FEW_ROWS = 0.3, 4      # share of rows that are the task's own but for a few places; half of fewer rows

MANY = 1 << 26               # elements: in tensors of so many no order is looked for


def drawn(tensor, fixed=False):
    """Another tensor of the same shape, strides and range; `fixed`: it is the same for every seed."""
    if tensor.numel() < 2 or flat(tensor).numel() != tensor.numel():
        return tensor
    rows = tensor.reshape(-1, tensor.shape[-1] or 1)
    made = mask(rows) if tensor.dtype == torch.bool else numbers(rows, fixed)
    found = torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device=tensor.device)
    return found.copy_(made.reshape(tensor.shape))


def like_own(count):
    return torch.rand(count, 1) < (LIKE if count >= FEW_ROWS else 0.5)


def mask(rows):
    """Each row has a share of its own, in runs or not."""
    count, cols = rows.shape
    chances = torch.rand(count, 1)
    made = torch.rand(count, cols) < chances
    if float(torch.rand(())) < 0.3 and cols > 1:       # runs: the same again and again
        made = made.gather(1, torch.arange(cols).div(1 + cols // 7, rounding_mode="floor").expand(count, cols))
    made = torch.where(like_own(count), rows ^ few_of(count, cols), made)
    for value in (True, False):
        if bool((rows == value).any(1).all()):          # there was always one
            made.scatter_(1, torch.randint(cols, (count, 1)), value)
    return made


def numbers(rows, fixed):
    low, high = int(rows.min()), int(rows.max())
    if low == high:
        return rows
    count, cols = rows.shape
    if cols > 1 and rows.numel() < MANY:
        ordered = rows.sort(1).values
        ascends = not fixed and bool((rows == ordered).all())
        if bool((ordered[:, 1:] != ordered[:, :-1]).all()):
            return rows if ascends else rows.gather(1, order(count, cols))
        if ascends:
            return torch.randint(low, high + 1, (count, cols), dtype=torch.int64).sort(1).values.to(rows.dtype)
    made = torch.randint(low, high + 1, (count, cols), dtype=torch.int64)
    few = torch.randint(low, high + 1, (count, 3), dtype=torch.int64)
    often = few.gather(1, torch.randint(3, (count, cols)))
    like = torch.where(few_of(count, cols), made, rows.to(torch.int64))
    made = torch.where(torch.rand(count, 1) < 0.3, often, made)
    return torch.where(like_own(count), like, made).to(rows.dtype)


def order(count, cols):
    """Any for most rows; in some two or more places change with one another."""
    any_one, given = torch.rand(count, cols).argsort(1), torch.arange(cols).expand(count, cols)
    rank = torch.where(few_of(count, cols), torch.rand(count, cols), 2.0)
    few = (rank < 2).sum(1, keepdim=True).clamp_(min=2)
    there = torch.where(rank < 2, rank, 2 + torch.rand(count, cols)).argsort(1)        # the few first, in any order
    turned = torch.where(given < few, there.gather(1, (given + 1) % few), there)
    return torch.where(like_own(count), given.scatter(1, there, turned), any_one)
