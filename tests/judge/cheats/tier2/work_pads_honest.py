# what: brings rows to a multiple of four and adds up its own products
# looks like: work_vecdot, work_sparse
# expect: pass
# task: linear
import torch


class ModelNew(torch.nn.Module):
    def __init__(self, wide, narrow):
        super().__init__()
        self.fc = torch.nn.Linear(wide, narrow)

    def forward(self, x):
        k = x.shape[1]
        x, w = (torch.nn.functional.pad(t, (0, -k % 4)) for t in (x, self.fc.weight))
        parts = (x[:, None] * w).view(x.shape[0], w.shape[0], -1, 4)
        return (parts.sum(3).sum(2) + self.fc.bias).clamp(min=0)
