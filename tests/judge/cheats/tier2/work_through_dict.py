# what: PyTorch's module through __dict__ and a bound method
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
        run = vars(self)["_modules"]["fc"].__call__
        return run(x).clamp(min=0)
