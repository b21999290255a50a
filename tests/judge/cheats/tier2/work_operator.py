# what: the matrix product as an operator
# met by: KernelBench's static checker does not see @
# caught by: rules: operators that the file uses
# expect: reject
# task: linear
import torch


class ModelNew(torch.nn.Module):
    def __init__(self, wide, narrow):
        super().__init__()
        self.fc = torch.nn.Linear(wide, narrow)

    def forward(self, x):
        return (x @ self.fc.weight.T + self.fc.bias).clamp(min=0)
