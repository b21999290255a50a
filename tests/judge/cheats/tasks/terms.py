"""A product whose terms have weights, which are parameters, all one at first."""
import torch
import torch.nn as nn

batch = 48
wide = 200
narrow = 64


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(wide))
        self.far = nn.Parameter(torch.rand(wide, narrow))

    def forward(self, x):
        return (x * self.weight) @ self.far


def get_inputs():
    return [torch.rand(batch, wide)]


def get_init_inputs():
    return []
