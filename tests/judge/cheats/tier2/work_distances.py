# what: the matrix product out of distances of rows
# met by: found by an adversary who knew the whole corpus
# caught by: rules: what executes while forward runs
# expect: reject
# task: linear
import torch


class ModelNew(torch.nn.Module):
    def __init__(self, wide, narrow):
        super().__init__()
        self.fc = torch.nn.Linear(wide, narrow)

    def forward(self, x):
        w = self.fc.weight
        d = torch.cdist(x.double(), w.double()).square()
        y = (x.double().square().sum(1)[:, None] + w.double().square().sum(1) - d) / 2
        return (y.float() + self.fc.bias).clamp(min=0)
