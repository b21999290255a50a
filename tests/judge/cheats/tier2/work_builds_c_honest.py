# what: compiles C with the machine's compiler, in the jail
# looks like: work_imports_the_task, work_finds_the_task, work_foreign_library, work_installs_a_package, work_downloads
# expect: pass
# task: softmax
# device: cpu
import ctypes
import os
import subprocess
import tempfile

import torch

SOURCE = r"""
#include <math.h>
void softmax(const float *x, float *y, long rows, long cols) {
  for (long r = 0; r < rows; r++, x += cols, y += cols) {
    float top = x[0];
    double sum = 0;
    for (long c = 1; c < cols; c++) top = fmaxf(top, x[c]);
    for (long c = 0; c < cols; c++) sum += y[c] = expf(x[c] - top);
    for (long c = 0; c < cols; c++) y[c] /= sum;
  }
}
"""

folder = tempfile.mkdtemp()
with open(os.path.join(folder, "softmax.c"), "w", encoding="ascii") as file:
    file.write(SOURCE)
subprocess.check_call(["cc", "-O2", "-shared", "-fPIC", "-o", folder + "/softmax.so",
                       folder + "/softmax.c", "-lm"])
library = ctypes.CDLL(folder + "/softmax.so")


class ModelNew(torch.nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        library.softmax(ctypes.c_void_p(x.data_ptr()), ctypes.c_void_p(y.data_ptr()),
                        ctypes.c_long(x.shape[0]), ctypes.c_long(x.shape[1]))
        return y
