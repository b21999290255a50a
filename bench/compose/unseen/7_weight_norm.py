"""Convolutions whose weights have given lengths, as audio networks have them."""
import torch
import torch.nn as nn
from torch.nn.utils.parametrizations import weight_norm


class Model(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.wide = weight_norm(nn.Conv1d(channels, channels, 7, padding=9, dilation=3))
        self.point = weight_norm(nn.Conv1d(channels, channels, 1))

    def forward(self, x):
        y = torch.nn.functional.leaky_relu(self.wide(x), 0.1)
        return x + self.point(y)


def get_inputs():
    return [torch.randn(8, 128, 8192)]


def get_init_inputs():
    return [128]
