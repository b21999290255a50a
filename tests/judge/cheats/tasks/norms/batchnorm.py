"""Columns brought to the mean and variance that were seen in training."""
import torch

rows, cols = 32, 64


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = torch.nn.BatchNorm1d(cols).eval()

    def forward(self, x):
        return self.norm(x)


def get_inputs():
    return [torch.randn(rows, cols)]
