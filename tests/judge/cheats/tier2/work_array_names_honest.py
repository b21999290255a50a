# what: shapes by another package, and sums of its own products
# looks like: work_array_by_name, work_array_method
# expect: pass
# task: linear
import numpy
import torch


class ModelNew(torch.nn.Module):
    def __init__(self, wide, narrow):
        super().__init__()
        self.fc = torch.nn.Linear(wide, narrow)

    def forward(self, x):
        steps = numpy.linspace(0, x.shape[1], 3).astype(int)
        parts = [(x[:, None, a:b] * self.fc.weight[:, a:b]).sum(2) for a, b in zip(steps, steps[1:])]
        return (parts[0] + parts[1] + self.fc.bias).clamp(min=0)
