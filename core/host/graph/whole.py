"""Operators that are recorded as one, though a device may compute them by thousands of others:
recurrent cells. The graph is the same then for every kind of device."""
import torch
from torch.overrides import TorchFunctionMode

OPERATORS = {"lstm": torch.ops.aten.lstm.input, "gru": torch.ops.aten.gru.input,
             "rnn_tanh": torch.ops.aten.rnn_tanh.input, "rnn_relu": torch.ops.aten.rnn_relu.input}


def whole(func, args):
    """The operator that this call is recorded as; None for all but those above. A packed
    sequence is recorded as what it is made of: it has the sizes of its batches in second place."""
    name = getattr(func, "__name__", "")
    if name not in OPERATORS or len(args) < 9 or not isinstance(args[3], bool):
        return None
    return OPERATORS[name]


class Whole(TorchFunctionMode):
    """Hands such calls to `record(operator, args, call)` and lets all others through."""

    def __init__(self, record):
        super().__init__()
        self.record = record

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        operator = None if kwargs else whole(func, args)
        if operator is None:
            return func(*args, **kwargs)
        return self.record(operator, args, lambda: func(*args))
