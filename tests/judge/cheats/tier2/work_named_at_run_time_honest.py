# what: looks a function of the C library up by a name that its own library puts together
# looks like: work_named_at_run_time, work_shim_at_run_time, work_asks_by_ctypes, work_triangle_by_name
# expect: pass
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
typedef float (*larger)(float, float);
void multiply(const char *lib, const float *w, const float *x, float *y, int n, int m, int k) {
  char name[8] = "f";
  strcat(name, "ma"), strcat(name, "xf");
  larger most = (larger)dlsym(dlopen(lib, RTLD_NOW), name);
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++) {
      double sum = 0;
      for (int l = 0; l < k; l++) sum += (double)x[i * k + l] * w[j * k + l];
      y[i * n + j] = most == 0 ? 0 : sum;
    }
}
"""
folder = tempfile.mkdtemp()
with open(os.path.join(folder, "product.c"), "w", encoding="ascii") as file:
    file.write(SOURCE)
subprocess.check_call(["cc", "-O2", "-shared", "-fPIC", "-o", folder + "/product.so", folder + "/product.c", "-ldl"])
library = ctypes.CDLL(folder + "/product.so")
THERE = b"libm.so.6"


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
