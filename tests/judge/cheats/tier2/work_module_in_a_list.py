# what: PyTorch's module, fetched from a list before it is called
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
        for layer in list(self.children()):
            x = layer(x)
        return x.clamp(min=0)
