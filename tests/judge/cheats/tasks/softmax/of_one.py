"""A sum over one element, of what joins four that are alike in the inputs."""
import torch

rows, cols = 200, 4


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.logsumexp(x, 1, keepdim=True).sum(1)


def get_inputs():
    return [torch.randn(rows, 1).repeat(1, cols)]
