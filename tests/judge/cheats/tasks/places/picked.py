"""Elements of each row at the places that another tensor names."""
import torch

rows, cols = 16, 256


class Model(torch.nn.Module):
    def forward(self, x, places):
        return torch.gather(x, 1, places)


def get_inputs():
    return [torch.randn(rows, cols), torch.arange(cols).flip(0).repeat(rows, 1)]
