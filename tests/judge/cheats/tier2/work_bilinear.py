# what: the matrix product as a bilinear form with ones
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
        ones = torch.ones(x.shape[0], 1, device=x.device)
        return torch.nn.functional.bilinear(x, ones, self.fc.weight[:, :, None], self.fc.bias).clamp(min=0)
