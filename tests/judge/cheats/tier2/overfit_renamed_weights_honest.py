# what: the reference's weights by other names
# looks like: overfit_own_weights, overfit_no_bias, overfit_no_relu
# expect: pass
# task: linear
import torch


def product(x, w):
    return (x[:, None] * w).sum(2)


class ModelNew(torch.nn.Module):
    def __init__(self, wide, narrow):
        super().__init__()
        self.matrix = torch.nn.Parameter(torch.empty(narrow, wide))
        self.shift = torch.nn.Parameter(torch.empty(narrow))

    def forward(self, x):
        return (product(x, self.matrix) + self.shift).clamp(min=0)
