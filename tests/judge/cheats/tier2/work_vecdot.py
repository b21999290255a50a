# what: rows times rows by PyTorch's scalar products
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
        return (torch.linalg.vecdot(x[:, None], self.fc.weight[None]) + self.fc.bias).clamp(min=0)
