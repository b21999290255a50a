# what: the product as a method of arrays, of a package that it does not import
# met by: an adversary who listed all operators that multiply
# caught by: rules: what its text says of arrays
# expect: reject
# task: linear
# device: cpu
import torch


class ModelNew(torch.nn.Module):
    def __init__(self, wide, narrow):
        super().__init__()
        self.fc = torch.nn.Linear(wide, narrow)

    def forward(self, x):
        y = torch.from_numpy(x.numpy().dot(self.fc.weight.detach().numpy().T))
        return (y + self.fc.bias).clamp(min=0)
