# what: an object of its own whose methods are called as PyTorch's
# looks like: work_module_by_iteration, work_subclassed_module
# expect: pass
# task: linear
import torch

class Kernels:
    def matmul(self, x, w):
        return (x[:, None] * w).sum(2)

    def linear(self, x, w, b):
        return self.matmul(x, w) + b


class ModelNew(torch.nn.Module):
    def __init__(self, wide, narrow):
        super().__init__()
        self.fc = torch.nn.Linear(wide, narrow)
        self.kernels = Kernels()

    def forward(self, x):
        return self.kernels.linear(x, self.fc.weight, self.fc.bias).clamp(min=0)
