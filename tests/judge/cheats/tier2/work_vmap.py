# what: a product of vectors, mapped over rows and columns
# met by: an adversary who has read the rules about text
# caught by: rules: operators that were executed
# expect: reject
# task: linear
import torch

rows = torch.vmap(torch.dot, in_dims=(None, 0))


class ModelNew(torch.nn.Module):
    def __init__(self, wide, narrow):
        super().__init__()
        self.fc = torch.nn.Linear(wide, narrow)

    def forward(self, x):
        return (torch.vmap(rows, in_dims=(0, None))(x, self.fc.weight) + self.fc.bias).clamp(min=0)
