# what: goes without a module that is not there, and reports errors of its own kernel
# looks like: work_in_a_thread, work_in_a_fork, work_in_a_program, work_traced, work_after_an_error, work_decoy
# expect: pass
# task: linear
import torch

try:
    import cupy
except ImportError:
    cupy = None


def kernel(x, w, b):
    return (x[:, None] * w).sum(2) + b


class ModelNew(torch.nn.Module):
    def __init__(self, wide, narrow):
        super().__init__()
        self.fc = torch.nn.Linear(wide, narrow)

    def forward(self, x):
        try:
            y = kernel(x, self.fc.weight, self.fc.bias)
        except RuntimeError as error:
            raise RuntimeError("the kernel failed for %s" % (x.shape,)) from error
        return y.clamp(min=0)
