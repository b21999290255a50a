"""A product whose terms have weights, which are parameters, all one at first."""
import torch

batch, wide, narrow = 48, 200, 64


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(wide))
        self.far = torch.nn.Parameter(torch.rand(wide, narrow))

    def forward(self, x):
        return (x * self.weight) @ self.far


def get_inputs():
    return [torch.rand(batch, wide)]
