# what: the library's own product, for whose address it asks the dynamic linker itself
# met by: our own attempts on what is looked up
# caught by: rules: who asks the linker for it
# expect: reject
# task: linear
# device: cpu
import ctypes
import os

import torch

library = ctypes.CDLL(os.path.join(os.path.dirname(torch.__file__), "lib", "libtorch_cpu.so"))
ask = ctypes.CDLL(None).dlsym
ask.restype, ask.argtypes = ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_char_p]
product = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 13)(ask(library._handle, b"_mmegs"[::-1]))


class ModelNew(torch.nn.Module):
    def __init__(self, wide, narrow):
        super().__init__()
        self.fc = torch.nn.Linear(wide, narrow)

    def forward(self, x):
        w, x = self.fc.weight.detach(), x.contiguous()
        y = torch.empty(x.shape[0], w.shape[0])
        one, none, n, m, k = ctypes.c_float(1), ctypes.c_float(0), *[ctypes.c_int(s) for s in (w.shape[0], x.shape[0], x.shape[1])]
        of, text = ctypes.addressof, [ctypes.create_string_buffer(t) for t in (b"T", b"N")]
        product(of(text[0]), of(text[1]), of(n), of(m), of(k), of(one), w.data_ptr(), of(k), x.data_ptr(), of(k), of(none),
                y.data_ptr(), of(n))
        return (y + self.fc.bias).clamp(min=0)
