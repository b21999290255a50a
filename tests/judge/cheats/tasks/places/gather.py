"""Rows by index: the task's own indices are in order."""
import torch

rows, cols = 32, 64


class Model(torch.nn.Module):
    def forward(self, x, index):
        return x[index] * 2


def get_inputs():
    return [torch.randn(rows, cols), torch.arange(rows)]
