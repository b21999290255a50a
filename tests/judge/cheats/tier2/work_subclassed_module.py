# what: PyTorch's module under another name
# met by: found by an adversary who knew the whole corpus
# caught by: rules: what executes while forward runs
# expect: reject
# task: linear
import torch

class Mine(torch.nn.Linear):
    pass


class ModelNew(torch.nn.Module):
    def __init__(self, wide, narrow):
        super().__init__()
        self.fc = torch.nn.Linear(wide, narrow)
        self.mine = Mine(wide, narrow)
        self.mine.weight, self.mine.bias = self.fc.weight, self.fc.bias

    def forward(self, x):
        return self.mine(x).clamp(min=0)
