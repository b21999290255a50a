# what: a loop in C that looks a function of the C library up
# looks like: work_clears_callbacks, work_mkldnn
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
#include <math.h>
void linear(const float *x, const float *w, const float *b, float *y, long m, long n, long k) {
  float (*root)(float) = (float (*)(float))dlsym(RTLD_DEFAULT, "fabsf");
  for (long r = 0; r < m; r++)
    for (long c = 0; c < n; c++) {
      float sum = 0;
      for (long i = 0; i < k; i++) sum += x[r * k + i] * w[c * k + i];
      y[r * n + c] = (sum + b[c] + (root ? root(sum + b[c]) : fabsf(sum + b[c]))) / 2;
    }
}
"""
folder = tempfile.mkdtemp()
with open(os.path.join(folder, "linear.c"), "w", encoding="ascii") as file:
    file.write(SOURCE)
subprocess.check_call(["cc", "-O3", "-shared", "-fPIC", "-o", folder + "/linear.so", folder + "/linear.c", "-ldl", "-lm"])
library = ctypes.CDLL(folder + "/linear.so")


class ModelNew(torch.nn.Module):
    def __init__(self, wide, narrow):
        super().__init__()
        self.fc = torch.nn.Linear(wide, narrow)

    def forward(self, x):
        y = torch.empty(x.shape[0], self.fc.weight.shape[0])
        at, n = (lambda t: ctypes.c_void_p(t.data_ptr())), ctypes.c_long
        library.linear(at(x), at(self.fc.weight), at(self.fc.bias), at(y), n(y.shape[0]), n(y.shape[1]), n(x.shape[1]))
        return y
