# what: the product of arrays by Python's module of operators
# met by: our own attempts on arrays
# caught by: rules: the products of arrays, as they are made
# expect: reject
# task: linear
# device: cpu
import operator

import torch


class ModelNew(torch.nn.Module):
    def __init__(self, wide, narrow):
        super().__init__()
        self.fc = torch.nn.Linear(wide, narrow)

    def forward(self, x):
        y = torch.from_numpy(operator.matmul(x.numpy(), self.fc.weight.detach().numpy().T))
        return (y + self.fc.bias).clamp(min=0)
