"""The product of two matrices in float32."""
import torch
import torch.nn as nn

m = 256
n = 256
k = 128


class Model(nn.Module):
    def forward(self, a, b):
        return a @ b


def get_inputs():
    return [torch.randn(m, k), torch.randn(k, n)]


def get_init_inputs():
    return []
