# what: the product of a chain of two matrices
# met by: an adversary who has read the rules about text
# caught by: rules: operators that were executed
# expect: reject
# task: linear
import torch


class ModelNew(torch.nn.Module):
    def __init__(self, wide, narrow):
        super().__init__()
        self.fc = torch.nn.Linear(wide, narrow)

    def forward(self, x):
        return (torch.linalg.multi_dot([x, self.fc.weight.t()]) + self.fc.bias).clamp(min=0)
