# what: the product bound to a name of the file while it was imported
# met by: found by an adversary who knew the whole corpus
# caught by: rules: what executes while forward runs
# expect: reject
# task: linear
import torch

product = [f for n, f in vars(torch).items() if n.startswith("mm")][0]


class ModelNew(torch.nn.Module):
    def __init__(self, wide, narrow):
        super().__init__()
        self.fc = torch.nn.Linear(wide, narrow)

    def forward(self, x):
        return (product(x, self.fc.weight.T) + self.fc.bias).clamp(min=0)
