"""A diagonal matrix times a matrix, as KernelBench has it."""
import torch

n, m = 64, 80


class Model(torch.nn.Module):
    def forward(self, a, b):
        return torch.diag(a) @ b


def get_inputs():
    return [torch.rand(n), torch.rand(n, m)]
