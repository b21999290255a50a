"""Inputs of whole numbers and masks that a task never announced.

An index or a label may be anything that the task's own are: they stay between the smallest
and the largest of those. Where a row's are all different they stay so, in another order. Where they
ascend (offsets, lengths) they go on to do so, unless they are the same for every seed: then
nothing but reading them shows which they are. A mask allows other places, in each row at least
one where it always did. Some rows are the task's own but for a few places, so that who looks at some of
them does not know the rest.

Numbers that a task computes with, and does not look up places by, may be any of their type (`by_type`): its ends, zeros,
numbers below zero, equal ones, sorted ones, and ones that a float32 or a float64 would take for the same.
"""
import torch

from cawb_host.judge.inputs.draws import few_of
from cawb_host.base.tensors import flat

LIKE, FEW_ROWS = 0.3, 4      # share of rows that are the task's own but for a few places; half of fewer rows

MANY = 1 << 26               # elements: in tensors of so many no order is looked for


# Operators of whole numbers that compute with them; of any other one they may be places, lengths or classes.
COMPUTES = ("pointwise", "reduction", "view")
ORDERS = ("sort", "argsort", "topk", "cumsum", "cummax", "cummin", "cat", "stack", "flip", "roll", "repeat", "bucketize", "searchsorted")
SHIFTS = ("bitwise_left_shift", "bitwise_right_shift", "pow", "ldexp", "nll_loss_forward", "nll_loss2d_forward", "where")


def computed_with(graph, count):
    """Numbers (from 0) of those of `count` inputs whose whole numbers no operator takes for anything but numbers."""
    found = set()
    for number in range(count):
        labels = {"input:%d" % (number + 1)}
        uses = [use for n, entry in enumerate(graph, 1) for use in uses_of(entry, n, labels)]
        if uses and all(uses):
            found.add(number)
    return found


def uses_of(entry, number, labels):
    """Whether an operator computes with each of these tensors that it takes; its own whole results are followed, too."""
    for tensor in entry["inputs"]:
        if tensor["source"] in labels and tensor["dtype"] not in FLOATS:
            if any(t["dtype"] not in FLOATS for t in entry["outputs"]):
                labels.add("op:%d" % number)
            computes = entry["kind"] in COMPUTES and entry["name"] not in SHIFTS and "gathers" not in entry["traits"]
            yield (computes or entry["name"] in ORDERS) and tensor["arg"] not in ("index", "indices", "boundaries", "sorted_sequence")


FLOATS = ("float64", "float32", "float16", "bfloat16", "bool")


def by_type(tensor):
    """A tensor of the same shape and strides, each row of numbers of one kind."""
    if not tensor.numel() or flat(tensor).numel() != tensor.numel():
        return tensor
    rows = tensor.reshape(-1, tensor.shape[-1] if tensor.dim() and tensor.shape[-1] else 1)
    if rows.shape[1] > 1 and bool((rows.sort(1).values == torch.arange(rows.shape[1], device=rows.device)).all()):
        return drawn(tensor)             # an order: another one
    info, own = torch.iinfo(tensor.dtype), (int(rows.min()), int(rows.max()))
    kinds = [kind for kind in KINDS if kind(1, 1, info, own) is not None]
    which = (torch.randperm(rows.shape[0]) + torch.randint(len(kinds), ())) % len(kinds)
    made = torch.empty(rows.shape, dtype=torch.int64)
    for number, kind in enumerate(kinds):
        at = (which == number).nonzero().squeeze(1)
        if at.numel():
            made[at] = kind(at.numel(), rows.shape[1], info, own)
    own_but_few = torch.where(few_of(*rows.shape), made, rows.to(torch.int64))
    made = torch.where(torch.rand(rows.shape[0], 1) < LIKE / 2, own_but_few, made)
    found = torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device=tensor.device)
    return found.copy_(made.clamp_(info.min, info.max).reshape(tensor.shape))


def between(low, high, *shape):
    return torch.randint(low, high + 1, shape, dtype=torch.int64)


def of(values, rows, cols):
    values = torch.tensor(values, dtype=torch.int64)
    return values[torch.randint(len(values), (rows, cols))]


def its_own(rows, cols, _info, own):
    return between(*own, rows, cols)


def ends(rows, cols, info, _own):
    """Some at the ends of the type; all others are small."""
    made = of([info.min, info.min + 1, info.max - 1, info.max], rows, cols)
    return torch.where(few_of(rows, cols), made, between(max(info.min, -2), 2, rows, cols))


def below_zero(rows, cols, info, own):
    return between(max(info.min, -own[1] - 2), -1, rows, cols) if info.min < 0 else None


def equal(rows, cols, info, _own):
    """Zeros, or a few values again and again."""
    values = between(max(info.min, -3), 3, rows, 3) * between(0, 1, rows, 1)
    return values.gather(1, torch.randint(3, (rows, cols)))


def ordered(rows, cols, info, own):
    made = between(max(info.min, -1 - own[1]) if info.min < 0 else 0, min(info.max, own[1] + 1), rows, cols).sort(1).values
    return torch.where(torch.rand(rows, 1) < 0.5, made, made.flip(1))


def small(rows, cols, info, _own):
    return between(max(info.min, -4), 4, rows, cols)


def whole_range(rows, cols, info, _own):
    return between(info.min, info.max, rows, cols) if info.bits <= 16 else None


def far(rows, cols, info, _own):
    """All of them large, above zero or below."""
    low = min(info.max // 2 + 1, 1 << 40)
    made = between(low, low + min(info.max - low, 1 << 40), rows, cols)
    return torch.where(torch.rand(rows, 1) < 0.5, made, -made) if info.min < 0 else made


def beyond(bits):
    """Numbers that differ only in bits that a type of so many has not."""
    def rows_of(rows, cols, info, _own):
        if info.max < 1 << (bits + 2):
            return None
        made = ((1 << bits) << between(0, 1, rows, 1)) + between(0, 7, rows, cols)
        made = made * (1 - 2 * between(0, 1, rows, 1))
        return torch.where(few_of(rows, cols) if bits > 32 else torch.rand(rows, cols) < 0.7, made, between(-3, 3, rows, cols))
    return rows_of


KINDS = (its_own, ends, below_zero, equal, ordered, small, far, whole_range, beyond(24), beyond(53), beyond(32))


def tables(graph, count):
    """How many places those of `count` inputs may name whose numbers operators look up alone: by number (from 0)."""
    found = {}
    for number in range(count):
        labels, sizes = {"input:%d" % (number + 1)}, []
        for n, entry in enumerate(graph, 1):
            for tensor in entry["inputs"]:
                if tensor["source"] in labels and tensor["dtype"] not in FLOATS:
                    sizes.append(table_of(entry, tensor))
                    if entry["kind"] == "view" or entry["name"] in ("_to_copy", "clone"):
                        labels.add("op:%d" % n)
                        sizes.pop()
        if sizes and all(sizes):
            found[number] = min(sizes)
    return found


def table_of(entry, tensor):
    """How many places an operator knows that this tensor's numbers name; None if it takes them for something else."""
    shape, dim = entry["inputs"][0]["shape"], entry["args"].get("dim")
    if entry["name"] == "embedding" and tensor["arg"] == "indices":
        return shape[0]
    if entry["name"] in ("gather", "index_select") and tensor["arg"] == "index" and isinstance(dim, int) and shape:
        return shape[dim]
    if entry["name"] in ("nll_loss_forward", "nll_loss2d_forward") and tensor["arg"] == "target" and len(shape) > 1:
        return shape[1]
    return None


def drawn(tensor, fixed=False, size=None):
    """Another tensor of the same shape, strides and range; `fixed`: it is the same for every seed; `size`: its numbers name
    one of so many places, of which the first and the last are among them."""
    if size and tensor.numel() and flat(tensor).numel() == tensor.numel():
        return places_in(tensor, size)
    if tensor.numel() < 2 or flat(tensor).numel() != tensor.numel():
        return tensor
    rows = tensor.reshape(-1, tensor.shape[-1] or 1)
    made = mask(rows) if tensor.dtype == torch.bool else numbers(rows, fixed)
    found = torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device=tensor.device)
    return found.copy_(made.reshape(tensor.shape))


def places_in(tensor, size):
    """Any place, a few again and again, or the task's own but for some; the two ends come, too."""
    rows = tensor.reshape(-1, tensor.shape[-1] if tensor.dim() and tensor.shape[-1] else 1).to(torch.int64)
    made = torch.where(torch.rand(rows.shape[0], 1) < LIKE, rows.clamp(0, size - 1), between(0, size - 1, *rows.shape)).reshape(-1)
    for end in (0, size - 1):
        made[torch.randint(len(made), (1 + len(made) // 16,))] = end
    found = torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device=tensor.device)
    return found.copy_(made.reshape(tensor.shape))


def like_own(count):
    return torch.rand(count, 1) < (LIKE if count >= FEW_ROWS else 0.5)


def mask(rows):
    """Each row has a share of its own, in runs or not."""
    count, cols = rows.shape
    chances = torch.rand(count, 1)
    chances = torch.where(torch.rand(count, 1) < 0.15, chances.round(), chances)       # all of it, or nothing
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
        return rows                                     # see Study.note_numbers
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
