"""The product of two matrices in bfloat16, for the pages on tensor cores."""
import torch
import torch.nn as nn

m = 256
n = 256
k = 256


class Model(nn.Module):
    """C[m, n] = A[m, k] B[k, n]."""

    def forward(self, a, b):
        return torch.matmul(a, b)


def get_inputs():
    return [torch.randn(m, k).bfloat16(), torch.randn(k, n).bfloat16()]


def get_init_inputs():
    return []
