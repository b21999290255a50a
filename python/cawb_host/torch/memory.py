"""Where the tensors of an op graph lie: which memory, at which offset and strides. Views, and writes into a part of a
tensor, follow from this alone.

Memories have numbers from 1. A memory that an operator made is empty before; the others are `bases`: inputs, parameters,
constants (small ones with their values), and "nothing", memory that was only reserved.
"""
import os
import sys

import torch
from torch._subclasses.fake_tensor import unset_fake_temporarily
from torch.multiprocessing.reductions import StorageWeakRef

from cawb_host.base.forms import own_forward
from cawb_host.base.tensors import NAMES

OWN = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))) + os.sep      # what is installed of cawb
SMALL = 16384  # elements of a constant that is told


def is_beside(path, task):
    """Whether a file is the program's, in the folder of its task: no installed package's, and none of these."""
    return (task is not None and os.path.isabs(task) and path.startswith(os.path.dirname(task) + os.sep)
            and "site-packages" not in path and not path.startswith(OWN))


class Memory:
    def __init__(self, module):
        self.numbers, self.kept = {}, []
        self.bases, self.operators = [], []
        self.path = getattr(getattr(own_forward(module), "__code__", None), "co_filename", None)

    def number(self, tensor):
        """The number of a tensor's memory, and whether it had none yet. The address is
        nobody else's while a reference is kept, which keeps no data."""
        at = tensor.untyped_storage()._cdata
        if at in self.numbers:
            return self.numbers[at], False
        self.kept.append(StorageWeakRef(tensor.untyped_storage()))
        self.numbers[at] = len(self.numbers) + 1
        return self.numbers[at], True

    def has(self, tensor):
        return tensor.untyped_storage()._cdata in self.numbers

    def base(self, tensor, source):
        """A tensor that was there before the first operator."""
        number, _ = self.number(tensor)
        self.bases.append(dict(self.place(tensor), source=source, shape=list(tensor.shape),
                               dtype=name_of(tensor), **values(tensor, source)))
        return number

    def place(self, tensor):
        return {"memory": self.number(tensor)[0], "strides": list(tensor.stride()),
                "offset": tensor.storage_offset()}

    def read(self, tensor):
        _, new = self.number(tensor)
        if new:
            self.base(tensor, "const")
        return self.place(tensor)

    def note(self, named, inputs, outputs, view, told=None):
        """One operator; tensors in the order of its entry. `given`: which items of a list are
        there, where some are not. `values`: of its first result, where `told` has them. A view of
        nothing is memory that nobody wrote to."""
        entry = {"inputs": [self.read(t) for t in inputs]}
        if told is not None:
            entry.update(values(told, "const"))
        for tensor in outputs if view else ():
            if self.number(tensor)[1]:
                self.base(tensor, "nothing")
        entry["outputs"] = [self.place(t) for t in outputs]
        gaps = {name: [item is not None for item in value] for name, value in named
                if isinstance(value, (list, tuple)) and any(item is None for item in value)}
        if gaps:
            entry["given"] = gaps
        entry.update(self.called())
        self.operators.append(entry)

    def called(self):
        """Where the program called this operator: a line of the task's file or, with the `file`, of a module beside it. The innermost
        of these calls is the one that says `conv` and not `net`."""
        frame = sys._getframe(1)
        while frame is not None:
            path = frame.f_code.co_filename
            if path == self.path:
                return {"line": frame.f_lineno}
            if is_beside(path, self.path):
                return {"line": frame.f_lineno, "file": os.path.relpath(path, os.path.dirname(self.path))}
            frame = frame.f_back
        return {}

    def describe(self, results):
        """`results`: what forward returned, in order."""
        return {"bases": self.bases, "operators": self.operators,
                "results": [dict(self.read(t), shape=list(t.shape), dtype=name_of(t))
                            for t in results if isinstance(t, torch.Tensor)]}


def name_of(tensor):
    return NAMES.get(tensor.dtype, str(tensor.dtype)[6:])


def values(tensor, source):
    """Of a small constant, in order; words for what JSON has no number for."""
    if source != "const" or tensor.numel() > SMALL:
        return {}
    tensor = getattr(tensor, "constant", None) if hasattr(tensor, "fake_mode") else tensor
    if tensor is None:
        return {}
    try:
        with unset_fake_temporarily():
            found = tensor.detach().reshape(-1).tolist()
    except Exception:  # pylint: disable=broad-except
        return {}  # a tensor without data
    return {"values": [x if isinstance(x, (bool, int)) or x - x == 0 else str(x) for x in found]}
