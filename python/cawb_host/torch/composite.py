"""Operators that are recorded as one, though a device may compute them by thousands of others:
recurrent cells. The graph is the same then for every kind of device."""
import torch
from torch.overrides import TorchFunctionMode

from cawb_host.torch import operators


def whole(func, args):
    """The operator that this call is recorded as; None for those that the table has not
    as whole. A packed sequence is recorded as what it is made of: it has the sizes of its batches
    in second place."""
    row = operators.TABLE.get(getattr(func, "__name__", ""))
    if row is None or not row.whole or len(args) < 9 or not isinstance(args[3], bool):
        return None
    return getattr(torch.ops.aten, row.name).input


def one_hot(numbers, num_classes):
    """The same by a comparison. PyTorch's own asks for the smallest and the largest number, only to check them, and the record
    would say that the program goes on as these numbers say."""
    return (numbers.unsqueeze(-1) == torch.arange(num_classes, device=numbers.device)).to(torch.int64)


class Whole(TorchFunctionMode):
    """Hands such calls to `record(operator, args, call)` and lets all others through."""

    def __init__(self, record):
        super().__init__()
        self.record = record

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if func is torch.nn.functional.one_hot and (kwargs.get("num_classes") or (*args, 0, 0)[1]) > 0:
            return one_hot(args[0] if args else kwargs["input"], kwargs.get("num_classes") or args[1])
        operator = None if kwargs else whole(func, args)
        if operator is None:
            return func(*args, **kwargs)
        return self.record(operator, args, lambda: func(*args))
