"""Three factors, the last a parameter that begins as the identity."""
import torch
import torch.nn as nn

m = 4
k = 48
n = 64


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.eye(n))

    def forward(self, a, b):
        return a @ (b @ self.w)


def get_inputs():
    return [torch.rand(m, k), torch.rand(k, n)]


def get_init_inputs():
    return []
