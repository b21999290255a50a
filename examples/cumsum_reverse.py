"""The running sum along each row, from its end: as rewards are added up to the end of an episode."""
import torch
import torch.nn as nn

# PyTorch turns the rows round, adds up, and turns them back: three passes over memory.
# A kernel can walk backwards in one.
rows = 1024
cols = 2048


class Model(nn.Module):
    """y[i] = x[i] + ... + x[n - 1]"""

    def forward(self, x):
        return x.flip(1).cumsum(1).flip(1)


def get_inputs():
    return [torch.randn(rows, cols)]


def get_init_inputs():
    return []
