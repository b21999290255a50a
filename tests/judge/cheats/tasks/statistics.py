"""Normalisation by running statistics that nobody has run: means 0, variances 1."""
import torch
import torch.nn as nn

rows = 8
cols = 96


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(cols)
        self.norm.eval()

    def forward(self, x):
        return self.norm(x)


def get_inputs():
    return [torch.randn(rows, cols)]


def get_init_inputs():
    return []
