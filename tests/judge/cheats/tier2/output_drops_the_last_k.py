# what: a product without its last term
# met by: found with positive inputs, where 1e-2 passes it
# caught by: numbers: sign-mixed inputs, error against float64
# expect: reject
# task: linear
import torch


def product(x, w):
    return (x[:, None] * w).sum(2)


class ModelNew(torch.nn.Module):
    def __init__(self, wide, narrow):
        super().__init__()
        self.fc = torch.nn.Linear(wide, narrow)

    def forward(self, x):
        return (product(x[:, :-1], self.fc.weight[:, :-1]) + self.fc.bias).clamp(min=0)
