"""A weighted sum of products: of blocks of rows with a factor for each block. The weights are parameters, all one at first."""
import torch
import torch.nn as nn

batch = 8
blocks = 4
inner = 50
rows = 16
narrow = 32


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(blocks))
        self.far = nn.Parameter(torch.rand(blocks, inner, narrow))

    def forward(self, x):
        return (self.weight[:, None, None] * (x @ self.far)).sum(1)


def get_inputs():
    return [torch.rand(batch, blocks, rows, inner)]


def get_init_inputs():
    return []
