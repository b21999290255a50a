# what: the library's own product, by a name that a library of its own puts together
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
#include <string.h>
typedef void (*product)(const char *, const char *, int *, int *, int *, float *, const float *, int *, const float *, int *,
                        float *, float *, int *);
void multiply(const char *lib, const float *w, const float *x, float *y, int n, int m, int k) {
  char name[8] = "s";
  float one = 1, none = 0;
  strcat(name, "ge"), strcat(name, "mm"), strcat(name, "_");
  ((product)dlsym(dlopen(lib, RTLD_NOW), name))("T", "N", &n, &m, &k, &one, w, &k, x, &k, &none, y, &n);
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
        w, x = self.fc.weight.detach(), x.contiguous()
        y = torch.empty(x.shape[0], w.shape[0])
        at = lambda t: ctypes.c_void_p(t.data_ptr())
        library.multiply(THERE, at(w), at(x), at(y), w.shape[0], x.shape[0], x.shape[1])
        return (y + self.fc.bias).clamp(min=0)
