"""A forward in float64 that keeps the constants of the task's own type.

A forward may ask for its type: `finfo(x.dtype).eps`, an rms_norm() without eps, a nan_to_num() without bounds, a comparison with
0.3. In float64 each of these would be another number, and the reference another function.
"""
import contextlib

import torch
from torch.overrides import TorchFunctionMode

from cawb_host.torch.recorder import tensors_in

COMPARISONS = {getattr(torch.Tensor, name) for name in ("gt", "ge", "lt", "le", "eq", "ne", "__gt__", "__ge__", "__lt__", "__le__", "__eq__",
                                                        "__ne__")} | {torch.gt, torch.ge, torch.lt, torch.le, torch.eq, torch.ne}
RMS_NORMS = (torch.nn.functional.rms_norm, torch.rms_norm)
BOUNDS = (torch.nan_to_num, torch.Tensor.nan_to_num, torch.nan_to_num_, torch.Tensor.nan_to_num_)


def of(inputs, module):
    """The type of a task: that of its first input of floating-point numbers, else of its first weight."""
    given = [*tensors_in(list(inputs)), *module.parameters(), *module.buffers()]
    return next((t.dtype for t in given if t.is_floating_point()), torch.float32)


class OwnType(TorchFunctionMode):
    def __init__(self, dtype):
        super().__init__()
        self.dtype, self.finfo = dtype, torch.finfo

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = dict(kwargs or {})
        if func in RMS_NORMS and len(args) < 4 and kwargs.get("eps") is None:
            kwargs["eps"] = torch.finfo(max(self.dtype, torch.float32, key=lambda d: d.itemsize)).eps
        elif func in BOUNDS:
            args, kwargs = self.bounded(args, kwargs)
        elif func in COMPARISONS and len(args) == 2 and self.dtype == torch.float32:
            args = tuple(self.rounded(a) for a in args)
        return func(*args, **kwargs)

    def bounded(self, args, kwargs):
        given, info = dict(zip(("input", "nan", "posinf", "neginf"), args), **kwargs), self.finfo(self.dtype)
        if not given["input"].is_floating_point():
            return args, kwargs
        for name, bound in (("posinf", info.max), ("neginf", info.min)):
            if given.get(name) is None:
                given[name] = bound
        return (given.pop("input"),), given

    def rounded(self, value):
        """A constant as a comparison in the task's type sees it."""
        return torch.tensor(value, dtype=self.dtype, device="cpu").item() if isinstance(value, float) else value


@contextlib.contextmanager
def kept(dtype, source):
    """Let a forward of float64 that comes from these globals know its type as `dtype`."""
    if dtype == torch.float64:
        yield
        return
    own = torch.finfo

    def finfo(asked=None):
        asked = torch.get_default_dtype() if asked is None else asked
        return own(dtype if asked == torch.float64 else asked)

    named = [name for name, value in source.items() if value is own]
    try:
        torch.finfo = finfo
        source.update(dict.fromkeys(named, finfo))
        with OwnType(dtype):
            yield
    finally:
        torch.finfo = own
        source.update(dict.fromkeys(named, own))
