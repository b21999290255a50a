"""A slope that is learned below zero."""
import torch
import torch.nn as nn

rows = 32
cols = 256


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.bend = nn.PReLU()

    def forward(self, x):
        return self.bend(x)


def get_inputs():
    return [torch.randn(rows, cols)]


def get_init_inputs():
    return []
