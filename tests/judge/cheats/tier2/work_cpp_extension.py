# what: PyTorch's product behind an extension in C++
# met by: found by an adversary who knew the whole corpus
# caught by: rules: what executes while forward runs
# expect: reject
# task: linear
# device: cpu
import ctypes
import os
import subprocess
import tempfile
import torch

SOURCE = r"""
namespace at {
class Tensor { void *impl; };
namespace _ops { struct mm_out { static Tensor &call(const Tensor &, const Tensor &, Tensor &); }; }
}
extern "C" void product(at::Tensor *a, at::Tensor *b, at::Tensor *c) { at::_ops::mm_out::call(*a, *b, *c); }
"""
folder = tempfile.mkdtemp()
with open(os.path.join(folder, "product.cpp"), "w", encoding="ascii") as file:
    file.write(SOURCE)
subprocess.check_call(["c++", "-O2", "-shared", "-fPIC", "-o", folder + "/product.so", folder + "/product.cpp",
                       os.path.join(os.path.dirname(torch.__file__), "lib", "libtorch_cpu.so")])
library = ctypes.CDLL(folder + "/product.so")


class ModelNew(torch.nn.Module):
    def __init__(self, wide, narrow):
        super().__init__()
        self.fc = torch.nn.Linear(wide, narrow)

    def forward(self, x):
        y = torch.empty(x.shape[0], self.fc.weight.shape[0])
        w = self.fc.weight.detach().t()
        library.product(*[ctypes.byref(ctypes.c_void_p(t._cdata)) for t in (x, w, y)])
        return (y + self.fc.bias).clamp(min=0)
