# what: float64 inside, float32 outside
# looks like: precision_bfloat16, precision_half, precision_tf32
# expect: pass
# task: linear
import torch


def product(x, w):
    return (x[:, None] * w).sum(2)


class ModelNew(torch.nn.Module):
    def __init__(self, wide, narrow):
        super().__init__()
        self.fc = torch.nn.Linear(wide, narrow)

    def forward(self, x):
        y = product(x.double(), self.fc.weight.double()) + self.fc.bias.double()
        return y.clamp(min=0).float()
