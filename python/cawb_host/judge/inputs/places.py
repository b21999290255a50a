"""Inputs in which the largest and the smallest lie at planned places, for operators that choose.

A maximum that leaves an element out is wrong only where that element is the largest. By chance few draws meet one place of
thousands, so the places are planned. From stage to stage the largest and the smallest of every line along which a task
chooses move to the next place. Places at which loops and blocks end come first; the order is drawn from the seed. Many
lines need two stages; few short lines need a stage for each place. The values themselves are those of any other row.
"""
import math

import torch

from cawb_host.judge.inputs.draws import chance, power, uniform
from cawb_host.torch import operators

NAME = "places"
STEPS = (1024, 512, 256, 128, 64, 32)    # widths of blocks, warps and packs, at whose ends most mistakes are made
MOST = 1 << 12                           # stages that can be told apart
FEW = 2                                  # stages of operators of which every element counts besides


def stage_of(case):
    """A number from 1 on of "places:3"; None of any other kind of inputs."""
    name, _, number = (case or "").partition(":")
    return int(number) if name == NAME and number.isdigit() and 1 <= int(number) <= MOST else None


def chosen(entry):
    """The shape that an operator chooses in, and along which dimensions; None of one that does not."""
    extremes = operators.find(entry["name"]).extremes
    shape, told = entry["inputs"][0]["shape"] if entry["inputs"] else [], entry["args"].get("dim")
    if not extremes or not shape or 0 in shape:
        return None
    if extremes == "window":
        return shape, [len(shape) - 1]
    dims = told if isinstance(told, list) else [told] if isinstance(told, int) and not isinstance(told, bool) else []
    return shape, sorted({d % len(shape) for d in dims}) or list(range(len(shape)))


def lengths(shape, dims):
    """How long a line is, and how many there are."""
    length = math.prod(shape[d] for d in dims)
    return length, math.prod(shape) // max(1, length)


class Plan:
    """Of one task."""

    def __init__(self, graph):
        found = [(operators.find(entry["name"]).extremes, chosen(entry)) for entry in graph]
        self.along = [(along, extremes == "inward") for extremes, along in found if along and lengths(*along)[0] > 1]

    def stages(self):
        """How many stages meet every place once."""
        counts = [(lengths(*along), inwardly) for along, inwardly in self.along]
        return max((FEW if inwardly else max(FEW, needed(length, lines)) for (length, lines), inwardly in counts), default=0)

    def dims(self, shape):
        """The dimensions of a tensor's lines: those of an operator that chooses in this shape, else any."""
        for (known, dims), _ in self.along:
            if list(shape) == known:
                return dims
        long = [d for d, n in enumerate(shape) if n > 1]
        return [long[int(torch.randint(len(long), ()))]] if long else []


def order(count, generator):
    """All places, in an order in which the ends of blocks come before others."""
    at = torch.arange(count, device=generator.device)
    rank = torch.full_like(at, len(STEPS) + 1)
    for number, step in reversed(list(enumerate(STEPS, 1))):
        rank[(at % step == 0) | (at % step == step - 1)] = number
    rank[:1] = rank[-1:] = 0
    return (rank + torch.rand(count, generator=generator, device=generator.device, dtype=torch.float64) * 0.99).argsort()


def ends_first(rows, cols):
    """Whether the first stage is about the two ends alone: which rows an end is left out in, nobody knows."""
    return rows > 1 and cols > 2


def needed(length, lines):
    return 1 + -(-(length - 2) // lines) if ends_first(lines, length) else -(-length // lines)


def planted(made, stage, seed):
    """Rows whose largest and smallest come to this stage's places, a little or far from the others."""
    rows, cols = made.shape
    if not rows or not cols:
        return made
    generator = torch.Generator(made.device).manual_seed((seed ^ 0x2545f4914f6cdd1d) & ((1 << 62) - 1))
    at, lines = order(cols, generator), torch.randperm(rows, generator=generator, device=made.device)
    if ends_first(rows, cols) and stage == 1:        # half of the lines at either end
        top, bottom = (torch.where(lines % 2 == side, 0, cols - 1).unsqueeze(1) for side in (0, 1))
    else:
        at, number = (at[2:], (stage - 2) * rows + lines) if ends_first(rows, cols) else (at, (stage - 1) * rows + lines)
        top, bottom = (at[(number + more) % len(at)].unsqueeze(1) for more in (0, len(at) // 2))
    high, low = made.amax(1, keepdim=True), made.amin(1, keepdim=True)
    room = (high - low).clamp_(min=1e-3)
    made = made.scatter(1, bottom, low - room * power(-4, 1, rows, 1))
    return made.scatter_(1, top, high + room * power(-4, 1, rows, 1))


def moved(made):
    """Some rows lie far from zero, on either side."""
    rows = made.shape[0]
    far = power(2, 9, rows, 1) * torch.where(torch.rand(rows, 1) < 0.7, -1.0, 1.0)
    share = float(uniform(0.2, 0.8)) if chance(0.7) else 1.0
    return torch.where(torch.rand(rows, 1) < share, made + far, made)


def lines(shape, dims):
    """The shape of a matrix of lines, and how its dimensions lie in the tensor."""
    rest = [d for d in range(len(shape)) if d not in dims]
    return rest + list(dims), [shape[d] for d in rest + list(dims)]


def fill(like, plan, stage, seed, rows_of):
    """A tensor of `like`'s shape and strides; `rows_of` makes rows of numbers."""
    shape, dims = list(like.shape), plan.dims(like.shape)
    turned, sizes = lines(shape, dims)
    length = math.prod(shape[d] for d in dims)
    made = rows_of(math.prod(shape) // max(1, length), length)
    if like.element_size() > 2:
        made = moved(made)
    made = planted(made, stage, seed).reshape(sizes)
    back = [turned.index(d) for d in range(len(shape))]
    return made.permute(back) if shape else made
