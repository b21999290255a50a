"""Each row, from its end to its beginning."""
import torch
import torch.nn as nn

rows = 256
cols = 1024


class Model(nn.Module):
    def forward(self, x):
        return x.flip(1)


def get_inputs():
    return [torch.randn(rows, cols)]


def get_init_inputs():
    return []
