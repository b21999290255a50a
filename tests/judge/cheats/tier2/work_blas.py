# what: the library's own product, called by address
# met by: found by an adversary who knew the whole corpus
# caught by: rules: what executes while forward runs
# expect: reject
# task: linear
# device: cpu
import ctypes
import os
import torch

library = ctypes.CDLL(os.path.join(os.path.dirname(torch.__file__), "lib", "libtorch_cpu.so"))


class ModelNew(torch.nn.Module):
    def __init__(self, wide, narrow):
        super().__init__()
        self.fc = torch.nn.Linear(wide, narrow)

    def forward(self, x):
        y = torch.empty(x.shape[0], self.fc.weight.shape[0])
        n, m, k = self.fc.weight.shape[0], x.shape[0], x.shape[1]
        i, one = ctypes.c_int, ctypes.c_float(1)
        at = lambda t: ctypes.c_void_p(t.data_ptr())
        library.sgemm_(b"T", b"N", *map(ctypes.byref, (i(n), i(m), i(k), one)), at(self.fc.weight), ctypes.byref(i(k)),
                       at(x.contiguous()), ctypes.byref(i(k)), ctypes.byref(ctypes.c_float(0)), at(y), ctypes.byref(i(n)))
        return (y + self.fc.bias).clamp(min=0)
