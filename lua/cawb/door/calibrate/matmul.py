"""A large square matrix product: what the tensor cores give PyTorch."""
import torch


class Model(torch.nn.Module):
    def forward(self, a, b):
        return a @ b


n = 8192
dtype = "float32"


def get_inputs():
    return [torch.randn(n, n).to(getattr(torch, dtype)) for _ in range(2)]


def get_init_inputs():
    return []
