"""A softmax of what two parameters are added to: one number for each row, and one for each column."""
import torch
import torch.nn as nn

rows = 24
cols = 100


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.c = nn.Parameter(torch.randn(rows, 1))
        self.d = nn.Parameter(torch.ones(cols))

    def forward(self, x):
        return torch.softmax(x + self.c + self.d, 1)


def get_inputs():
    return [torch.randn(rows, cols)]


def get_init_inputs():
    return []
