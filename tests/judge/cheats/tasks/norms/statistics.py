"""Normalisation by running statistics that nobody has run: means 0, variances 1."""
import torch

rows, cols = 8, 96


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = torch.nn.BatchNorm1d(cols)
        self.norm.eval()

    def forward(self, x):
        return self.norm(x)


def get_inputs():
    return [torch.randn(rows, cols)]
