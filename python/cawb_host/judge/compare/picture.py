"""How far an output is from its reference, as a grid of few cells: for people who look, not for judging."""
import torch

from cawb_host.base.tensors import number


def flat(tensor):
    """As rows of the last dimension, in float64."""
    width = tensor.shape[-1] if tensor.dim() > 0 else 1
    real = tensor.abs() if tensor.is_complex() else tensor
    return real.detach().to("cpu", torch.float64).reshape(-1, max(1, width))


def folded(values, rows):
    """One long row as several, in reading order."""
    if values.shape[0] > 1 or values.shape[1] < rows * rows:
        return values
    width = -(-values.shape[1] // rows)
    return torch.nn.functional.pad(values, (0, rows * width - values.shape[1])).reshape(rows, width)


def pooled(values, rows, columns):
    """The largest value of each cell."""
    return torch.nn.functional.adaptive_max_pool2d(values[None, None], (min(rows, values.shape[0]), min(columns, values.shape[1])))[0, 0]


def drawn(got, wanted, rows, columns):
    """The reply to the op `picture`."""
    shape = list(got.shape)
    got, wanted = flat(got), flat(wanted)
    if got.numel() == 0:
        return {"shape": shape, "rows": 0, "columns": 0, "cells": [], "worst": {"at": []}}
    same = (got == wanted) | (got.isnan() & wanted.isnan())
    size = wanted[wanted.isfinite()].square().mean().sqrt().item()
    error = torch.where(same, 0.0, (got - wanted).abs() / (size if size > 0 else 1.0))
    lost = ~error.isfinite()
    error = error.masked_fill(lost, float("inf"))
    worst = int(error.argmax())
    cells = pooled(folded(error, rows), rows, columns)
    at, left = [], worst
    for length in reversed(shape):
        at.insert(0, left % length)
        left //= length
    values = {"got": number(got.reshape(-1)[worst].item()), "wanted": number(wanted.reshape(-1)[worst].item())}
    return {"shape": shape, "rows": cells.shape[0], "columns": cells.shape[1],
            "cells": [-1.0 if e == float("inf") else float("%.3g" % e) for e in cells.reshape(-1).tolist()],
            "worst": {"at": at, **{name: value for name, value in values.items() if value is not None}}}
