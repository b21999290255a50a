"""The product of two matrices in bfloat16."""
import torch
import torch.nn as nn

m = 256
n = 256
k = 256


class Model(nn.Module):
    def forward(self, a, b):
        return a @ b


def get_inputs():
    return [torch.randn(m, k).bfloat16(), torch.randn(k, n).bfloat16()]


def get_init_inputs():
    return []
