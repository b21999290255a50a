"""Operators whose operands have a range or an order: looked at before they run.

On a CPU PyTorch raises; on a GPU the kernel asserts, and the process has lost its device. Where
values have to ascend nothing at all says so. Of products of many factors the order decides whether
one on the way is infinite, and infinity times 0 is no number. Inputs of the battery may be such, so
a reference on them runs under this mode.
"""
import math

import torch

from cawb_host.torch.mode import Mode
from cawb_host.torch import operators
from cawb_host.torch.recorder import arguments
from cawb_host.base.fault import Fault


def within(low, high, *tensors):
    """Whether all elements lie there; NaN does not."""
    return all(bool(((t >= low) & (t < high)).all()) for t in tensors if t.numel())


def along_dim(named):
    given = named["self"]
    size = given.shape[named["dim"]] if given.dim() else 1
    return within(0, size, named["index"])


def rows(key):
    def rule(named):
        return within(0, named[key].shape[0], named["indices"])
    return rule


def chosen(named):
    sizes = named["self"].shape
    return all(t is None or t.dtype in (torch.bool, torch.uint8) or within(-size, size, t)
               for t, size in zip(named["indices"], sizes))


def taken(named):
    count = named["self"].numel()
    return within(-count, count, named["index"])


def probabilities(named):
    return all(bool(((t >= 0) & (t <= 1)).all()) for t in (named["self"], named["target"]))


def classes(named):
    target = named["target"]
    inside = (target >= 0) & (target < named["self"].shape[1 if named["self"].dim() > 1 else 0])
    return bool((inside | (target == named.get("ignore_index", -100))).all())


def ascending(key):
    def rule(named):
        given = named[key]
        return named.get("sorter") is not None or not given.dim() or bool((given[..., 1:] >= given[..., :-1]).all())
    return rule


NONE = -1e6                              # log2 of 0: no run of factors that has one is large


def runs(named):
    """Whether no run of neighbouring factors has a product beyond the type's range: by prefix sums of
    logarithms, each beside the least one before it."""
    given, dim = named["self"], named.get("dim")
    if not given.is_floating_point() or not given.numel():
        return True
    rows = given.reshape(1, -1) if dim is None else given.movedim(dim, -1)
    sums = rows.to(torch.float64).abs().log2().nan_to_num_(nan=NONE, posinf=NONE, neginf=NONE).cumsum(-1)
    sums = torch.nn.functional.pad(sums, (1, 0))
    return bool((sums - sums.cummin(-1).values).max() < math.log2(torch.finfo(given.dtype).max) - 1)


RULES = {"cumprod": runs, "prod": runs, "searchsorted": ascending("sorted_sequence"), "bucketize": ascending("boundaries"),
         "gather": along_dim, "scatter": along_dim, "scatter_add": along_dim, "scatter_reduce": along_dim,
         "index_select": along_dim, "index_add": along_dim, "index_copy": along_dim, "index_fill": along_dim,
         "embedding": rows("weight"), "index": chosen, "index_put": chosen, "_unsafe_index": chosen, "take": taken,
         "binary_cross_entropy": probabilities, "nll_loss_forward": classes, "nll_loss2d_forward": classes}


def compared(entry, counts):
    """Whether it compares with a count 0, 1, 2, ...: one_hot is recorded so, and scatters (torch/composite.py)."""
    return entry["name"] == "eq" and any(tensor["source"] in counts for tensor in entry["inputs"])


def needed(graph):
    """Whether a task has any of them."""
    counts = {"op:%d" % number for number, entry in enumerate(graph, 1) if entry["name"] == "arange"}
    return any(entry["op"].split(".")[0] in RULES or entry["name"] in RULES or compared(entry, counts) for entry in graph)


class Guard(Mode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        rule = RULES.get(operators.of(func).name) or RULES.get(func._schema.name.split("::")[-1].rstrip("_"))
        if rule is not None and not rule(dict(arguments(func, args, kwargs))):
            raise Fault("task", "%s takes an operand that is out of its range" % func)
        return func(*args, **kwargs)
