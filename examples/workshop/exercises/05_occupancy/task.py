"""A bell curve of each element."""
import torch
import torch.nn as nn

rows = 528
cols = 2048


class Model(nn.Module):
    def forward(self, x):
        return torch.exp(-x * x)


def get_inputs():
    return [torch.randn(rows, cols)]


def get_init_inputs():
    return []
