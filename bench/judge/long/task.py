"""A recurrent layer: small inputs, and many steps one after the other. verdicts.lua has it for a call that is long beside the
exchange with a process in a jail."""
import torch
import torch.nn as nn

steps = 512
batch = 16
inputs = 128
hidden = 256
layers = 4


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.GRU(inputs, hidden, layers)

    def forward(self, x):
        return self.layer(x)[0]


def get_inputs():
    return [torch.randn(steps, batch, inputs)]


def get_init_inputs():
    return []
