"""stub"""
from torch.utils._python_dispatch import TorchDispatchMode


class Recorder(TorchDispatchMode):
    def __init__(self, module, args):
        super().__init__()
        self.entries, self.notes = [], []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))
