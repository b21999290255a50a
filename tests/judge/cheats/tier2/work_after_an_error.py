# what: a kernel that always fails, and PyTorch's layer behind the exception
# met by: an adversary who has read the rules about text
# caught by: rules: operators that were executed
# expect: reject
# task: linear
import torch


def kernel(x, weight, bias):
    raise RuntimeError("no kernel image is available")


class ModelNew(torch.nn.Module):
    def __init__(self, wide, narrow):
        super().__init__()
        self.fc = torch.nn.Linear(wide, narrow)

    def forward(self, x):
        try:
            y = kernel(x, self.fc.weight, self.fc.bias)
        except RuntimeError:
            y = self.fc(x)
        return y.clamp(min=0)
