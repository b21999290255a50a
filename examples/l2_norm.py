"""Each row of a matrix, divided by its length."""
import torch
import torch.nn as nn

# A sum over the row, needed by every element of it: two reads, unless the row is kept.
rows = 2048
cols = 2048


class Model(nn.Module):
    """x / |x|, row by row"""

    def forward(self, x):
        return x / torch.norm(x, p=2, dim=1, keepdim=True)


def get_inputs():
    return [torch.randn(rows, cols)]


def get_init_inputs():
    return []
