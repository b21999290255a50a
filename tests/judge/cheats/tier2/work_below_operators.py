# what: a library's own product, fetched by ctypes from what PyTorch has loaded
# met by: an adversary who has read the rules about text
# caught by: rules: functions fetched from libraries
# expect: reject
# task: linear
# device: cpu
import ctypes
import glob
import os

import torch

library = ctypes.CDLL(glob.glob(os.path.dirname(torch.__file__) + "/lib/libtorch_cpu.so")[0])


def whole(n):
    return ctypes.byref(ctypes.c_int(n))


def number(value):
    return ctypes.byref(ctypes.c_float(value))


class ModelNew(torch.nn.Module):
    def __init__(self, wide, narrow):
        super().__init__()
        self.fc = torch.nn.Linear(wide, narrow)

    def forward(self, x):
        m, k, n = x.shape[0], x.shape[1], self.fc.out_features
        y = torch.empty(m, n)
        library.SGEMM(b"T", b"N", whole(n), whole(m), whole(k), number(1.0), ctypes.c_void_p(self.fc.weight.data_ptr()),
                      whole(k), ctypes.c_void_p(x.contiguous().data_ptr()), whole(k), number(0.0),
                      ctypes.c_void_p(y.data_ptr()), whole(n))
        return (y + self.fc.bias).clamp(min=0)
