# what: a product that PyTorch keeps for itself, with ReLU in it
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
        run = getattr(torch, "_add" + "mm_activation")
        return run(self.fc.bias, x, self.fc.weight.t())
