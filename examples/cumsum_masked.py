"""The running sum along each row of the elements under a mask."""
import torch
import torch.nn as nn

# Nine bytes for each float: the mask has one, read as a word for every four of x.
rows = 2048
cols = 2048


class Model(nn.Module):
    """The sum up to i of the x[j] where mask[j] holds."""

    def forward(self, x, mask):
        return torch.cumsum(x * mask, dim=1)


def get_inputs():
    return [torch.randn(rows, cols), torch.rand(rows, cols) < 0.5]


def get_init_inputs():
    return []
