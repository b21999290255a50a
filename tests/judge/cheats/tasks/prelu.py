"""PReLU: its slope is a parameter, 0.25 until it is trained."""
import torch
import torch.nn as nn

rows = 8
cols = 96


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.act = nn.PReLU()

    def forward(self, x):
        return self.act(x)


def get_inputs():
    return [torch.randn(rows, cols)]


def get_init_inputs():
    return []
