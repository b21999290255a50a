# what: own functions whose names PyTorch has too
# looks like: work_vars, work_bound_early, work_dunder
# expect: pass
# task: linear
import torch

def mm(x, w):
    return (x[:, None] * w).sum(2)


def relu(x):
    return torch.where(x < 0, 0.0, x)


class ModelNew(torch.nn.Module):
    def __init__(self, wide, narrow):
        super().__init__()
        self.fc = torch.nn.Linear(wide, narrow)

    def forward(self, x):
        return relu(mm(x, self.fc.weight) + self.fc.bias)
