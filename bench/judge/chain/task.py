"""y = 2 x: a task for kernels whose time is known by how they are made."""
import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return 2 * x


n = 132 * 256


def get_inputs():
    return [torch.randn(n)]


def get_init_inputs():
    return []
