"""A norm of one's own and the loss behind it: features on the unit sphere, their distance from a target's."""
import torch
import torch.nn as nn

# Two inputs are read once; what comes out is one number. PyTorch writes six tensors of their size on the way.
rows = 16384
features = 1024


class Model(nn.Module):
    """The mean over rows of 1 - cosine, each feature weighted, after a root-mean-square norm."""

    def __init__(self, features):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(features))
        self.weight = nn.Parameter(torch.rand(features))

    def forward(self, x, target):
        scale = x.square().mean(1, keepdim=True).add(1e-6).rsqrt()
        x = x * scale * self.gain
        x = x / x.norm(dim=1, keepdim=True).clamp(min=1e-6)
        target = target / target.norm(dim=1, keepdim=True).clamp(min=1e-6)
        return (self.weight * (x - target).square()).sum(1).mean()


def get_inputs():
    return [torch.randn(rows, features), torch.randn(rows, features)]


def get_init_inputs():
    return [features]
