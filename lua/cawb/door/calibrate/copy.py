"""y = x: what memory gives. Of whole numbers, so that what is added can be taken away again."""
import torch

n = 1 << 18
whole = False


class Model(torch.nn.Module):
    def forward(self, x):
        return x.clone()


def get_inputs():
    x = torch.randn(n)
    return [x.mul_(4).round_() if whole else x]


def get_init_inputs():
    return []
