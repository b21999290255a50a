"""A diagonal matrix times a matrix, as KernelBench has it."""
import torch
import torch.nn as nn

n = 64
m = 80


class Model(nn.Module):
    def forward(self, a, b):
        return torch.diag(a) @ b


def get_inputs():
    return [torch.rand(n), torch.rand(n, m)]


def get_init_inputs():
    return []
