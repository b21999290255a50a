"""The last row of a product whose left factor has rows that are alike."""
import torch

m, k, n = 24, 80, 96


class Model(torch.nn.Module):
    def forward(self, a, b):
        return (a @ b)[-1]


def get_inputs():
    return [torch.rand(1, k).repeat(m, 1), torch.rand(k, n)]
