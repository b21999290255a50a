# what: PyTorch's modules, whatever they are called
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
        for part in self.children():
            x = part(x)
        return x.clamp(min=0)
