"""Largest of three neighbours."""
import torch

rows, cols = 16, 256


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.nn.functional.max_pool1d(x[None], 3, 1, 1)[0]


def get_inputs():
    return [torch.randn(rows, cols)]
