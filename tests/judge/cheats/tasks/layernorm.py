"""Rows brought to mean 0 and variance 1."""
import torch
import torch.nn as nn

rows = 16
cols = 300


class Model(nn.Module):
    def forward(self, x):
        return torch.nn.functional.layer_norm(x, x.shape[-1:])


def get_inputs():
    return [torch.randn(rows, cols)]


def get_init_inputs():
    return []
