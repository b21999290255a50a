# what: PyTorch adds up offsets, pads, and multiplies two small matrices
# looks like: work_below_operators, work_below_by_shim, work_stops_the_watcher
# expect: pass
# task: linear
import torch
import torch.nn.functional as F


class ModelNew(torch.nn.Module):
    def __init__(self, wide, narrow):
        super().__init__()
        self.fc = torch.nn.Linear(wide, narrow)

    def forward(self, x):
        offsets = torch.cumsum(torch.ones(16, dtype=torch.int64, device=x.device), 0)
        turn = torch.eye(2, device=x.device) @ torch.eye(2, device=x.device)
        wide = F.pad(x, (0, 16 - int(offsets[-1])))
        y = (wide[:, None] * self.fc.weight * turn[0, 0]).sum(2) + self.fc.bias
        return exec("") or y.clamp(min=0)
