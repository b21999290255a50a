"""Three times one vector, and another one added."""
import torch
import torch.nn as nn

n = 100003


class Model(nn.Module):
    def forward(self, x, y):
        return 3 * x + y


def get_inputs():
    return [torch.randn(n), torch.randn(n)]


def get_init_inputs():
    return []
