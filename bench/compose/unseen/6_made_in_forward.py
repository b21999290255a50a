"""Window attention with a bias by distance: mask, table of distances and scale are made in forward."""
import torch
import torch.nn as nn

SIDE = 8


class Model(nn.Module):
    def __init__(self, heads):
        super().__init__()
        self.bias = nn.Parameter(torch.randn((2 * SIDE - 1) ** 2, heads) * 0.1)

    def forward(self, q, k, v):
        places = [(i // SIDE, i % SIDE) for i in range(SIDE * SIDE)]
        table = torch.tensor([[(a - c + SIDE - 1) * (2 * SIDE - 1) + b - d + SIDE - 1 for c, d in places] for a, b in places],
                             device=q.device)
        mask = torch.tril(torch.ones(SIDE * SIDE, SIDE * SIDE, dtype=torch.bool, device=q.device))
        scores = q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5 + self.bias[table].permute(2, 0, 1)
        return scores.masked_fill(~mask, float("-inf")).softmax(-1) @ v


def get_inputs():
    return [torch.randn(128, 8, SIDE * SIDE, 32) for _ in range(3)]


def get_init_inputs():
    return [8]
