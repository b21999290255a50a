"""Rows brought to mean 0 and variance 1, then scaled and shifted by weights."""
import torch

rows, cols = 16, 300


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = torch.nn.LayerNorm(cols)

    def forward(self, x):
        return self.norm(x)


def get_inputs():
    return [torch.randn(rows, cols)]
