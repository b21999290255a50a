# what: compares its kernel with PyTorch's once, at the first call
# looks like: work_registered, work_redispatched, work_redispatched_by_handle, work_in_blocks, work_mkldnn, work_derivative
# expect: pass
# task: linear
import torch
import torch.nn.functional as F


def kernel(x, w, b):
    return (x[:, None] * w).sum(2) + b


class ModelNew(torch.nn.Module):
    def __init__(self, wide, narrow):
        super().__init__()
        self.fc = torch.nn.Linear(wide, narrow)
        self.checked = False

    def forward(self, x):
        y = kernel(x, self.fc.weight, self.fc.bias)
        if not self.checked:
            self.checked = True
            assert torch.allclose(y, F.linear(x, self.fc.weight, self.fc.bias), rtol=1e-2, atol=1e-2 * float(y.abs().max()))
        return y.clamp(min=0)
