"""Rows of numbers, by kind, for battery.py to mix. In float64, near 1 in size."""
import math

import torch


def uniform(low, high, *shape):
    return low + (high - low) * torch.rand(shape, dtype=torch.float64)


def power(low, high, *shape):
    """2 to a power from low to high."""
    return torch.exp2(uniform(low, high, *shape))


def chance(share):
    return float(torch.rand(())) < share


def either(*shape):
    """Signs."""
    return torch.randint(2, shape).to(torch.float64) * 2 - 1


def spread(count):
    """Numbers from 0 to 1 in any order, one from each of as many parts."""
    return (torch.randperm(count) + torch.rand(count, dtype=torch.float64)) / max(1, count)


def spread_of(chosen):
    """The same for those that are chosen; others get 0."""
    made = torch.zeros(chosen.shape, dtype=torch.float64)
    made[chosen] = spread(int(chosen.sum()))
    return made


def normal(*shape):
    return torch.randn(shape, dtype=torch.float64)


# Kinds: each makes `rows` x `cols`

def both_signs(rows, cols):
    return normal(rows, cols) + normal(rows, 1) / 4


def one_sign(rows, cols):
    """Uniform, or crowded at zero; more often negative."""
    sizes = torch.rand(rows, cols, dtype=torch.float64).pow_(power(-1, 2, rows, 1))
    return sizes * 2 * torch.where(torch.rand(rows, 1) < 0.6, -1.0, 1.0).to(torch.float64)


def heavy_tailed(rows, cols):
    """Each element has a weight of its own: a few make up most of any sum."""
    sizes = torch.rand(rows, cols, dtype=torch.float64).clamp_(min=1e-9).pow_(-1 / power(-0.3, 1.6, rows, 1))
    return sizes / sizes.amax(1, keepdim=True) * 4 * either(rows, cols)


def the_same(rows, cols):
    return normal(rows, 1).expand(rows, cols)


def all_but_one(rows, cols):
    """The same but for one element, a little or far from it."""
    made = the_same(rows, cols).clone()
    at = torch.randint(cols, (rows, 1))
    return made.scatter_add_(1, at, normal(rows, 1) * power(-8, 2, rows, 1))


def few_levels(rows, cols):
    """Two to five values, so that largest and smallest come many times."""
    levels = normal(rows, 5)
    which = (torch.rand(rows, cols) * torch.randint(2, 6, (rows, 1))).to(torch.int64)
    return levels.gather(1, which)


def near_levels(rows, cols):
    """Values a few units in the last place of float32 apart."""
    steps = torch.randint(64, (rows, cols)).to(torch.float64)
    return normal(rows, 1) * (1 + steps * 2.0 ** -23 * torch.exp2(torch.randint(7, (rows, 1)).to(torch.float64)))


def leaning(rows, cols):
    """Positive and below 1, in numbers whose last bits all lean the same way: what rounds them to
    7 or 10 bits is off by the sum of it."""
    first = torch.randint(128, (rows, cols)).to(torch.float64) / 128
    return (1 + first + 0.375 / 128 + 0.375 / 1024) * torch.exp2(-torch.randint(1, 5, (rows, cols)).to(torch.float64))


def topped(rows, cols):
    """The largest comes two or three times, at places of its own."""
    made = normal(rows, cols)
    top = made.amax(1, keepdim=True).expand(rows, 3)
    return made.scatter_(1, torch.randint(cols, (rows, 3)), top * power(0, 1, rows, 1))


def swept(rows, cols):
    """All magnitudes from a few thousandths to some tens, each as often."""
    signs = torch.where(torch.rand(rows, 1) < 0.5, either(rows, cols), either(rows, 1))
    return power(-9, 5, rows, cols) * signs


def nothing(rows, cols):
    return torch.zeros(rows, cols, dtype=torch.float64)


def whole_ones(rows, cols):
    return torch.randint(-3, 4, (rows, cols)).to(torch.float64)


SIMPLE = (nothing, the_same, whole_ones, few_levels)


def nearly(rows, cols):
    """Something simple but for a few elements: who looks at some takes it for that."""
    which = (torch.randperm(rows) + torch.randint(len(SIMPLE), ())) % len(SIMPLE)
    made = nothing(rows, cols)
    for number, kind in enumerate(SIMPLE):
        at = (which == number).nonzero().squeeze(1)
        made[at] = kind(at.numel(), cols)
    return blemished(made)


def few_of(rows, cols):
    """Places in each row: one, or up to an eighth of it, fewer more often."""
    share = torch.exp2(math.log2(max(2, cols // 8)) * torch.rand(rows, 1, dtype=torch.float64)).floor() / max(1, cols)
    places = torch.rand(rows, cols, dtype=torch.float64) < share
    return places.scatter_(1, torch.randint(max(1, cols), (rows, 1)), True) if cols else places


def blemished(made):
    """The same but for a few elements of each row, which are large enough to be missed."""
    row, col = few_of(*made.shape).nonzero(as_tuple=True)
    size = power(-1, 2, made.shape[0])[row]
    return made.index_put((row, col), normal(row.numel()) * size + either(row.numel()) / 2)


def echoed(made, at):
    """Rows that become the ones before them but for a few elements, as large as the largest there."""
    if at.numel():
        before, few = made[at - 1], few_of(at.numel(), made.shape[1])
        size = before.abs().amax(1, keepdim=True).clamp_(min=1e-3)
        made[at] = torch.where(few, either(*before.shape) * size * power(-1, 1, *before.shape), before)
    return made


def planted(made):
    """In every second row the largest goes to another place, often one of the last."""
    rows, cols = made.shape
    last = (cols - 1 - torch.randint(min(cols, 8), (rows, 1))) if cols else 0
    at = torch.where(torch.rand(rows, 1) < 0.6, last, torch.randint(max(1, cols), (rows, 1)))
    top = made.argmax(1, keepdim=True)
    at = torch.where(torch.rand(rows, 1) < 0.5, at, top)
    largest_ones, there = made.gather(1, top), made.gather(1, at)
    return made.scatter_(1, top, there).scatter_(1, at, largest_ones)


def again(part, drawn, cols):
    """Fills a part with rows out of what was drawn, from any of them on: half of them with the other sign, half of them half as large."""
    first = int(torch.randint(max(1, (drawn.numel() - part.numel()) // cols + 1), ())) * cols
    part.copy_(drawn[first:first + part.numel()])
    whole = part[:part.numel() // cols * cols].view(-1, cols)
    if part.element_size() > 1:
        whole.mul_((either(len(whole), 1) * torch.exp2(-torch.randint(2, (len(whole), 1)).to(torch.float64))).to(part.dtype))
