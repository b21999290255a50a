"""Columns brought to the mean and variance that were seen in training."""
import torch
import torch.nn as nn

rows = 32
cols = 64


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(cols).eval()

    def forward(self, x):
        return self.norm(x)


def get_inputs():
    return [torch.randn(rows, cols)]


def get_init_inputs():
    return []
