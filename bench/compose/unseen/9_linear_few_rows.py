"""A linear layer of few rows and its activation: the weights are most of what is read."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, wide, narrow):
        super().__init__()
        self.layer = nn.Linear(wide, narrow)

    def forward(self, x):
        return torch.nn.functional.gelu(self.layer(x))


def get_inputs():
    return [torch.randn(128, 2048)]


def get_init_inputs():
    return [2048, 1024]
