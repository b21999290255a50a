"""A convolution with bias and ReLU, the step of most vision networks."""
import torch
import torch.nn as nn
import torch.nn.functional as F

# 2 * batch * out_channels * height * width * in_channels * 9 operations. cuDNN can add
# the bias and apply ReLU while the result is still in registers.
batch = 4
in_channels = 16
out_channels = 32
size = 28


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, 3, padding=1)

    def forward(self, x):
        return F.relu(self.conv(x))


def get_inputs():
    return [torch.randn(batch, in_channels, size, size)]


def get_init_inputs():
    return []
