# what: cuBLAS's product, called by address
# met by: found by an adversary who knew the whole corpus
# caught by: rules: what executes while forward runs
# expect: reject
# task: linear
# device: cuda:0
import ctypes
import torch

library = ctypes.CDLL([line.split()[-1] for line in open("/proc/self/maps", encoding="ascii") if "libcublas.so" in line][0])


class ModelNew(torch.nn.Module):
    def __init__(self, wide, narrow):
        super().__init__()
        self.fc = torch.nn.Linear(wide, narrow)

    def forward(self, x):
        y = torch.empty(x.shape[0], self.fc.weight.shape[0], device=x.device)
        n, m, k = self.fc.weight.shape[0], x.shape[0], x.shape[1]
        at, i = (lambda t: ctypes.c_void_p(t.data_ptr())), ctypes.c_int
        if not hasattr(self, "handle"):
            self.handle = ctypes.c_void_p()
            library.cublasCreate_v2(ctypes.byref(self.handle))
        library.cublasSetStream_v2(self.handle, ctypes.c_void_p(torch.cuda.current_stream().cuda_stream))
        one, none = ctypes.c_float(1), ctypes.c_float(0)
        library.cublasSgemm_v2(self.handle, i(1), i(0), i(n), i(m), i(k), ctypes.byref(one), at(self.fc.weight), i(k),
                               at(x.contiguous()), i(k), ctypes.byref(none), at(y), i(n))
        return (y + self.fc.bias).clamp(min=0)
