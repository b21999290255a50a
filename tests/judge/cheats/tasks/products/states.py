"""A weighted sum of products: of blocks of rows with a factor for each block. The weights are parameters, all one at first."""
import torch

batch, blocks, inner, rows, narrow = 8, 4, 50, 16, 32


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(blocks))
        self.far = torch.nn.Parameter(torch.rand(blocks, inner, narrow))

    def forward(self, x):
        return (self.weight[:, None, None] * (x @ self.far)).sum(1)


def get_inputs():
    return [torch.rand(batch, blocks, rows, inner)]
