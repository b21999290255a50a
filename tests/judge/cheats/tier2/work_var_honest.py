# what: a method called var, of its own
# looks like: work_variance_alone, work_standard_deviation
# expect: pass
# task: variance
import torch


class Rows:
    def __init__(self, x):
        self.x = x

    def var(self):
        centred = self.x - self.x.mean(1, keepdim=True)
        return (centred * centred).sum(1) / (self.x.shape[1] - 1)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        return Rows(x).var()
