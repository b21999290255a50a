"""A task's file on another device than it was written for: `cuda` is the device that there is."""
import torch
from torch.overrides import TorchFunctionMode


def is_cuda(value):
    if isinstance(value, str):
        return value.split(":")[0] == "cuda"
    return isinstance(value, torch.device) and value.type == "cuda"


class Elsewhere(TorchFunctionMode):
    """While it is entered, requests for a GPU get `device`."""

    def __init__(self, device):
        super().__init__()
        self.device = device

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = dict(kwargs or {})
        if func == torch.Tensor.pin_memory:
            return args[0]
        if func == torch.Tensor.cuda:
            return args[0].to(self.device)
        if is_cuda(kwargs.get("device")):
            kwargs["device"] = self.device
        if kwargs.get("pin_memory"):
            kwargs["pin_memory"] = False
        if func == torch.Tensor.to:
            args = tuple(self.device if is_cuda(a) else a for a in args)
        return func(*args, **kwargs)
