"""LayerNorm over the rows of a matrix, as it stands in front of every transformer block."""
import torch
import torch.nn as nn

# Two reductions over the row, the second needing the first: the variance is a sum of
# (x - mean)^2. The short cut E[x^2] - E[x]^2 would do with one pass, and cancels where a
# row's mean is large against its spread. Weight and bias are read again by every row.
rows = 1024
cols = 2048


class Model(nn.Module):
    """(x - mean) / sqrt(var + eps) * weight + bias, row by row."""

    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        # The initial weight of 1 and bias of 0 would let a kernel forget both.
        nn.init.normal_(self.norm.weight)
        nn.init.normal_(self.norm.bias)

    def forward(self, x):
        return self.norm(x)


def get_inputs():
    return [torch.randn(rows, cols)]


def get_init_inputs():
    return [cols]
