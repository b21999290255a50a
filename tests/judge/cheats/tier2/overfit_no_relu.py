# what: takes for granted that inputs are positive
# met by: robust-kbench
# caught by: numbers: sign-mixed inputs
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
        return product(x, self.fc.weight) + self.fc.bias
