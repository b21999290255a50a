# what: turns its weights round at the first call and keeps that
# looks like: overfit_own_weights
# expect: pass
# task: linear
import torch


class ModelNew(torch.nn.Module):
    def __init__(self, wide, narrow):
        super().__init__()
        self.fc = torch.nn.Linear(wide, narrow)
        self.turned = None

    def forward(self, x):
        if self.turned is None:
            self.turned = self.fc.weight[None].contiguous()
        return ((x[:, None] * self.turned).sum(2) + self.fc.bias).clamp(min=0)
