"""Numbers that a task compares with or rounds by, as its inputs: where a comparison is wrong for equal numbers, or a half is rounded
the wrong way, nothing else shows it.
"""
import torch

from cawb_host.judge.inputs.draws import either, power
from cawb_host.base.tensors import flat


class Scene:
    """What is known of a task's inputs and of its numbers. `fixed` are the numbers of tensors that are the same for every seed, `data`
    of those whose whole numbers are computed with, `pool` numbers that its inputs may meet: constants, and weights of few
    elements. Without `decides` nothing hangs on whether they do."""

    def __init__(self, fixed=(), data=(), pool=(), decides=False):
        self.fixed, self.data, self.pool, self.decides = fixed, data, list(pool), decides
        self.tables = {}         # by number of tensor: how many places there are that its numbers may name


MEETING = 0.4            # share of rows that meet those numbers, where something is decided


def met(made, scene, others):
    """In some rows most elements are a number that the task compares with or rounds by: an element of another input, a constant,
    a half of it or a multiple; or the next number beside it, or one far beyond."""
    own = pool = torch.tensor(scene.pool or [0.0], dtype=torch.float64)
    if others:
        few = [flat(t)[torch.randint(flat(t).numel(), (32,))].to(torch.float64) for t in others]
        pool = torch.cat([pool] + few).nan_to_num_(nan=0.0, posinf=0.0, neginf=0.0)
    rows, cols = made.shape
    some = pool[torch.randint(len(pool), (rows, cols))]
    some = torch.where(torch.rand(rows, cols) < 0.5, own[torch.randint(len(own), (rows, cols))], some)     # of few constants each comes often
    steps = torch.randint(-40, 41, (rows, cols)).to(torch.float64) / 2
    unit = pool[torch.randint(len(pool), (rows, 1))]
    unit = torch.where(torch.rand(rows, 1) < 0.5, torch.where(unit == 0, 1.0, unit), 1 / torch.where(unit == 0, 1.0, unit))
    unit = torch.where(torch.rand(rows, 1) < 0.4, torch.ones_like(unit), unit)
    kind = torch.rand(rows, cols)
    found = torch.where(kind < 0.4, some, torch.where(kind < 0.75, steps * unit, torch.where(kind < 0.85, some * (1 + 2.0 ** -22), made)))
    found = torch.where(kind > 0.96, unit * either(rows, cols) * power(5, 12, rows, cols), found)
    return torch.where(torch.rand(rows, 1) < MEETING, found, made)


def meets(case, like, made, scene, others, most):
    """The same tensor, some of whose rows meet the task's numbers."""
    if case != "ties" or not scene.decides or not like.is_contiguous() or not like.numel():
        return made
    cols = like.shape[-1] if like.dim() else 1
    others = [t for t in others if t.numel() and t is not like]
    rows = met(made.reshape(-1, cols).to(torch.float64), scene, others).clamp_(-most, most)
    return made.copy_(rows.reshape(made.shape))
