"""Three factors, the last a parameter that begins as the identity."""
import torch

m, k, n = 4, 48, 64


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.w = torch.nn.Parameter(torch.eye(n))

    def forward(self, a, b):
        return a @ (b @ self.w)


def get_inputs():
    return [torch.rand(m, k), torch.rand(k, n)]
