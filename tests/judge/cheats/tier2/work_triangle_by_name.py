# what: the product as a triangular system, by a function of the library's that does not multiply by name
# met by: our own attempts on other functions of a BLAS
# caught by: rules: functions fetched from libraries
# expect: reject
# task: linear
# device: cpu
import ctypes
import os

import torch

library = ctypes.CDLL(os.path.join(os.path.dirname(torch.__file__), "lib", "libtorch_cpu.so"))


class ModelNew(torch.nn.Module):
    """[[1, 0], [-w, 1]] z = [x, 0] has x and w x as its solution."""
    def __init__(self, wide, narrow):
        super().__init__()
        self.fc = torch.nn.Linear(wide, narrow)

    def forward(self, x):
        w = self.fc.weight.detach()
        n, k = w.shape
        size, many = n + k, x.shape[0]
        a = torch.eye(size)
        a[k:, :k] = -w
        z = torch.zeros(many, size)
        z[:, :k] = x
        a = a.t().contiguous()                     # by columns
        i, one, at = ctypes.c_int, ctypes.c_float(1), lambda t: ctypes.c_void_p(t.data_ptr())
        library.strsm_(b"L", b"L", b"N", b"U", *map(ctypes.byref, (i(size), i(many), one)), at(a), ctypes.byref(i(size)), at(z),
                       ctypes.byref(i(size)))
        return (z[:, k:] + self.fc.bias).clamp(min=0)
