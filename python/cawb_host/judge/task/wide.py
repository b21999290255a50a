"""A module in float64, and a forward in it that names narrower types itself.

Tensors that such a forward makes in float32 are made in float64. Values that it rounds to 16 bits are rounded, and
go on in float64: that rounding is a part of the task.
"""
import copy

import torch

from cawb_host.torch import scaled
from cawb_host.torch.mode import Mode
from cawb_host.torch.operators import name_of
from cawb_host.base.fault import Fault
from cawb_host.base.tensors import wide

SHORT = (torch.float16, torch.bfloat16)


class Wide(Mode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if name_of(func) == "view" and func._schema.overload_name == "dtype":
            raise Fault("unsupported", "the bits of a number have no wide form")
        if name_of(func) == "_scaled_mm":
            return scaled.product(*args[:6], **{k: v for k, v in kwargs.items() if k in ("bias", "scale_result")})
        dtype = kwargs.get("dtype")
        if dtype is torch.float32:
            return func(*args, **dict(kwargs, dtype=torch.float64))
        if dtype is torch.complex64:
            return func(*args, **dict(kwargs, dtype=torch.complex128))
        if dtype in SHORT:
            made = func(*args, **dict(kwargs, dtype=torch.float64))
            return made.copy_(made.to(dtype))
        return func(*args, **kwargs)


class Both:
    """Two modes as one; either may be None."""

    def __init__(self, *modes):
        self.modes = [m for m in modes if m is not None]

    def __enter__(self):
        for mode in self.modes:
            mode.__enter__()

    def __exit__(self, *why):
        for mode in reversed(self.modes):
            mode.__exit__(*why)


def widened(module):
    """The module in float64, tensors kept outside its parameters included."""
    module = copy.deepcopy(module)._apply(wide)
    for part in module.modules():
        for name, value in list(vars(part).items()):
            if isinstance(value, torch.Tensor):
                setattr(part, name, wide(value))
    return module
