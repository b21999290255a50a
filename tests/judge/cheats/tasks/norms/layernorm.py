"""Rows brought to mean 0 and variance 1."""
import torch

rows, cols = 16, 300


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.nn.functional.layer_norm(x, x.shape[-1:])


def get_inputs():
    return [torch.randn(rows, cols)]
