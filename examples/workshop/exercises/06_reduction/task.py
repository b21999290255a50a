"""The sum of each row."""
import torch
import torch.nn as nn

rows = 1024
cols = 1024


class Model(nn.Module):
    def forward(self, x):
        return x.sum(1)


def get_inputs():
    return [torch.randn(rows, cols)]


def get_init_inputs():
    return []
