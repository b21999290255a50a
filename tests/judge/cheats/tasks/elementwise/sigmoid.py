"""Sigmoid."""
import torch

rows, cols = 16, 300


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.sigmoid(x)


def get_inputs():
    return [torch.randn(rows, cols)]
