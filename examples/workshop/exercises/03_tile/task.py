"""The transposed matrix."""
import torch
import torch.nn as nn

rows = 512
cols = 1024


class Model(nn.Module):
    def forward(self, x):
        return x.t().contiguous()


def get_inputs():
    return [torch.randn(rows, cols)]


def get_init_inputs():
    return []
