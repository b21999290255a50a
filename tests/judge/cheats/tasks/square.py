"""A matrix times a matrix; the first of the inputs happens to be diagonal."""
import torch
import torch.nn as nn

n = 64
m = 96


class Model(nn.Module):
    def forward(self, a, b):
        return a @ b


def get_inputs():
    return [torch.diag(torch.rand(n)), torch.rand(n, m)]


def get_init_inputs():
    return []
