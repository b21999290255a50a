# what: a kernel that fails inside a generator, which ends, and PyTorch behind it
# met by: found by an adversary who knew the whole corpus
# caught by: rules: what executes while forward runs
# expect: reject
# task: linear
import operator
import torch

def tried(x):
    if hasattr(torch, "own_kernel"):
        yield torch.own_kernel(x)


class ModelNew(torch.nn.Module):
    def __init__(self, wide, narrow):
        super().__init__()
        self.fc = torch.nn.Linear(wide, narrow)

    def forward(self, x):
        results = list(tried(x)) or [operator.matmul(x, self.fc.weight.T) + self.fc.bias]
        return results[0].clamp(min=0)
