"""Rows brought to mean 0 and variance 1, scaled and shifted: by ones and zeros, as long as nobody trains it."""
import torch

rows, cols = 8, 96


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = torch.nn.LayerNorm(cols)

    def forward(self, x):
        return self.norm(x)


def get_inputs():
    return [torch.randn(rows, cols)]
