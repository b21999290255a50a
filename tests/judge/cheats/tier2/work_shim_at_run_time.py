# what: PyTorch's product past its dispatcher, by a name that a library of its own puts together
# met by: our own attempts on what is looked up
# caught by: rules: who asks the linker for it
# expect: reject
# task: linear
# device: cpu
import ctypes
import os
import subprocess
import tempfile

import torch

SOURCE = r"""
#include <dlfcn.h>
#include <stdio.h>
typedef int (*out)(void *, void *, void *);
int multiply(const char *lib, void *y, void *x, void *w) {
  char name[40];
  snprintf(name, sizeof name, "ao%s_torch_%s_%s_out", "ti", "cpu", "mm");
  return ((out)dlsym(dlopen(lib, RTLD_NOW), name))(y, x, w);
}
"""
folder = tempfile.mkdtemp()
with open(os.path.join(folder, "product.c"), "w", encoding="ascii") as file:
    file.write(SOURCE)
subprocess.check_call(["cc", "-O2", "-shared", "-fPIC", "-o", folder + "/product.so", folder + "/product.c", "-ldl"])
library = ctypes.CDLL(folder + "/product.so")
THERE = os.path.join(os.path.dirname(torch.__file__), "lib", "libtorch_cpu.so").encode()


class ModelNew(torch.nn.Module):
    def __init__(self, wide, narrow):
        super().__init__()
        self.fc = torch.nn.Linear(wide, narrow)

    def forward(self, x):
        y = torch.empty(x.shape[0], self.fc.out_features)
        handles = torch._C._aoti.unsafe_alloc_void_ptrs_from_tensors([y, x, self.fc.weight.detach().t()])
        get = ctypes.pythonapi.PyCapsule_GetPointer
        get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
        library.multiply(THERE, *[ctypes.c_void_p(get(h, None)) for h in handles])
        return (y + self.fc.bias).clamp(min=0)
