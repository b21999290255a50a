"""The error of a straightforward kernel. The task runs once more, with its sums added up one after another in their own
type, and its functions off by some units in their last place.

Eager PyTorch adds up pairwise, in parts or in float64. Its error is much smaller than that of a right kernel that adds up
in order: on rows of one value each addition rounds in the same direction. The error of such a kernel depends on the
values, so it is found by running it. Operators that are sums of sums (softmax, a layer's norm) are taken apart by
PyTorch's own decompositions. A function such as erf() gets the error that CUDA documents for it.
"""
import torch
from torch._decomp import decomposition_table

from cawb_host.torch.mode import Mode
from cawb_host.torch import operators
from cawb_host.torch.recorder import arguments
from cawb_host.base.fault import Fault

ORDERS = 3                       # from the front; from the end; in parts of PART, which are added up in order
WAYS = 2 * ORDERS                # the same again with a variance made in one pass, where there is one
PART = 64
STEPS, WORK = 20000, 1 << 27     # additions one after another, and elements of all of them, in one forward
ULP = 2.0 ** -23                 # of float32, and most functions' error


class Short(Exception):
    """There is more to do than there is time for."""


class Plain(Mode):
    """Of float32 tensors; other values do not change."""

    def __init__(self, way, seed):
        super().__init__()
        self.order, self.one_pass = way % ORDERS, way >= ORDERS
        self.steps, self.work, self.did, self.moments = 0, 0, False, False
        self.seed, self.draws = (seed + way) & ((1 << 62) - 1), {}

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        row, tensors = operators.of(func), [a for a in args if isinstance(a, torch.Tensor)]
        if not tensors or any(t.is_floating_point() and t.dtype != torch.float32 for t in tensors) or func._schema.is_mutable:
            return func(*args, **kwargs)
        if row.apart and func in decomposition_table:
            with self:
                return decomposition_table[func](*args, **kwargs)
        rule = RULES.get(row.name)
        result = rule(self, dict(arguments(func, args, kwargs))) if rule else None
        if result is not None:
            self.did = True
            return result
        result = func(*args, **kwargs)
        return self.near(result) if row.inexact else result

    def near(self, value):
        """Off by two units in the last place, up or down. All of them: where one element's error is larger than all others',
        as of a GELU far below zero, a draw that leaves it exact would leave a right kernel no room."""
        self.did = True
        up = torch.randint(2, value.shape, generator=self.draws_on(value.device), device=value.device, dtype=torch.int8)
        return value + value * up.to(value.dtype).mul_(4 * ULP).sub_(2 * ULP)

    def draws_on(self, device):
        """The generator of a device: a GPU's tensors take none of the processor's."""
        if device not in self.draws:
            self.draws[device] = torch.Generator(device)
            self.draws[device].manual_seed(self.seed)
        return self.draws[device]

    def take(self, steps, each):
        self.steps, self.work = self.steps + steps, self.work + steps * each
        if self.steps > STEPS or self.work > WORK:
            raise Short

    def added(self, rows):
        """The sum over the first dimension."""
        self.take(len(rows), rows[0].numel() if len(rows) else 0)
        if self.order == 2 and len(rows) > PART:
            return self.folded(torch.stack([self.folded(part) for part in rows.split(PART)]))
        return self.folded(rows.flip(0) if self.order == 1 else rows)

    def folded(self, rows, join=torch.Tensor.add_):
        total = rows[0].clone()
        for row in rows[1:]:
            join(total, row)
        return total

    def running(self, rows, join):
        """All the sums on the way, or products."""
        self.take(len(rows), rows[0].numel())
        parts = rows.split(PART if self.order == 2 else len(rows))
        found, before = [], None
        for part in parts:
            made = part.clone()
            for i in range(1, len(made)):
                made[i] = join(made[i - 1], made[i])
            if before is not None:
                made = join(before, made)
            found, before = found + [made], made[-1]
        return torch.cat(found)


def front(tensor, dim):
    """With the dimensions that are told, or all, as one in front."""
    dims = sorted({d % tensor.dim() for d in (dim if isinstance(dim, (list, tuple)) else [dim])}) if dim not in (None, []) \
        else list(range(tensor.dim()))
    rest = [d for d in range(tensor.dim()) if d not in dims]
    return tensor.permute(dims + rest).reshape([-1] + [tensor.shape[d] for d in rest]), dims


def back(named, value, dims):
    if named.get("keepdim"):
        for d in dims:
            value = value.unsqueeze(d)
    return value


def total(mode, named):
    if not fits(named):
        return None
    rows, dims = front(named["self"], named.get("dim"))
    return back(named, mode.added(rows), dims)


def mean(mode, named):
    made = total(mode, named)
    return made if made is None else made / (named["self"].numel() // max(1, made.numel()))


def fits(named):
    given = named["self"]
    return given.dtype == torch.float32 and given.dim() > 0 and given.numel() > 0 and named.get("dtype") in (None, torch.float32)


def moments(mode, named):
    rows, dims = front(named["self"], named.get("dim"))
    mode.moments = True
    correction = named.get("correction", 1 if named.get("unbiased", True) else 0)
    squares, middle = (in_one_pass if mode.one_pass else in_two_passes)(mode, rows)
    spread = squares / max(len(rows) - (1 if correction is None else correction), 0)
    return back(named, spread, dims), back(named, middle, dims)


def in_two_passes(mode, rows):
    """The sum of squared distances from the mean, and the mean."""
    middle = mode.added(rows) / len(rows)
    return mode.added((rows - middle).square()), middle


def in_one_pass(mode, rows):
    """The same from two sums of distances from each row's first element. It is right however far from zero a row lies, and
    less exact the further the first element lies from the others."""
    rest = rows - rows[0]
    middle = mode.added(rest) / len(rows)
    return mode.added(rest.square()) - len(rows) * middle.square(), rows[0] + middle


def spread(mode, named):
    return moments(mode, named)[0] if fits(named) else None


def deviation(mode, named):
    return moments(mode, named)[0].sqrt() if fits(named) else None


def both(mode, named):
    return moments(mode, named) if fits(named) else None


def length(mode, named):
    if not fits(named) or named.get("ord", named.get("p", 2)) not in (2, 2.0):
        return None
    rows, dims = front(named["self"], named.get("dim"))
    return back(named, mode.added(rows.square()).sqrt(), dims)


def scan(join):
    def rule(mode, named):
        if not fits(named):
            return None
        return mode.running(named["self"].movedim(named["dim"], 0), join).movedim(0, named["dim"])
    return rule


def product(mode, named):
    if not fits(named):
        return None
    rows, dims = front(named["self"], named.get("dim"))
    mode.take(len(rows), rows[0].numel())
    return back(named, mode.folded(rows.flip(0) if mode.order == 1 else rows, torch.Tensor.mul_), dims)


def matrices(left, right):
    """left @ right as a sum over the dimension that both have, added up in order."""
    def rule(mode, named):
        a, b = named[left], named[right]
        if a.dtype != torch.float32 or not a.shape[-1]:
            return None
        b = b.unsqueeze(-1) if b.dim() == a.dim() - 1 else b
        count, each = a.shape[-1], a.shape[:-1].numel() * b.shape[-1]
        mode.take(count, each)
        order = range(count - 1, -1, -1) if mode.order == 1 else range(count)
        made = None
        for k in order:
            term = a[..., :, k:k + 1] * b[..., k:k + 1, :]
            made = term if made is None else made.add_(term)
        made = made.squeeze(-1) if named[right].dim() == a.dim() - 1 else made
        if "beta" in named:
            made = made * named.get("alpha", 1) + named["self"] * named["beta"]
        return made
    return rule


RULES = {"sum": total, "mean": mean, "var": spread, "std": deviation, "var_mean": both, "linalg_vector_norm": length,
         "norm": length, "cumsum": scan(torch.add), "cumprod": scan(torch.mul), "prod": product,
         "mm": matrices("self", "mat2"), "bmm": matrices("self", "mat2"), "mv": matrices("self", "vec"),
         "addmm": matrices("mat1", "mat2"), "baddbmm": matrices("batch1", "batch2")}


def outputs(runner, inputs, seed):
    """The outputs in each way, as lists of tensors; none where there is nothing to add up, or too much."""
    found, moments = [], False
    for way in range(WAYS):
        if way == ORDERS and not moments:
            break
        mode = Plain(way, seed)
        try:
            made = [t for _, t in runner.forward(inputs, seed, mode)]
        except Fault as fault:       # Short, or an operator that the decompositions do not take
            if fault.name in ("device", "memory"):
                raise
            return []
        if not mode.did:
            return []
        moments = moments or mode.moments
        found.append(made)
    return found
