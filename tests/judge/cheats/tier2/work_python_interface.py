# what: PyTorch's function by the interpreter's own C interface
# met by: found by an adversary who knew the whole corpus
# caught by: rules: what executes while forward runs
# expect: reject
# task: linear
import ctypes
import torch

get = ctypes.pythonapi.PyObject_GetAttrString
get.restype, get.argtypes = ctypes.py_object, [ctypes.py_object, ctypes.c_char_p]
mm = get(torch, b"mm")


class ModelNew(torch.nn.Module):
    def __init__(self, wide, narrow):
        super().__init__()
        self.fc = torch.nn.Linear(wide, narrow)

    def forward(self, x):
        return (mm(x, self.fc.weight.T) + self.fc.bias).clamp(min=0)
