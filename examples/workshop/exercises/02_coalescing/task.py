"""The square of each element."""
import torch
import torch.nn as nn

n = 1048576


class Model(nn.Module):
    def forward(self, x):
        return x * x


def get_inputs():
    return [torch.randn(n)]


def get_init_inputs():
    return []
