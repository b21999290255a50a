# what: the matrix product as a gradient
# met by: found by an adversary who knew the whole corpus
# caught by: rules: what executes while forward runs
# expect: reject
# task: linear
import operator
import torch


class ModelNew(torch.nn.Module):
    def __init__(self, wide, narrow):
        super().__init__()
        self.fc = torch.nn.Linear(wide, narrow)

    def forward(self, x):
        y = torch.func.jvp(lambda t: operator.matmul(t, self.fc.weight.T), (x,), (x,))[0]
        return (y + self.fc.bias).clamp(min=0)
