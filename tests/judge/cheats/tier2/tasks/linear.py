"""A linear layer and ReLU: weights that have to arrive."""
import torch

rows, wide, narrow = 32, 512, 48


class Model(torch.nn.Module):
    def __init__(self, wide, narrow):
        super().__init__()
        self.fc = torch.nn.Linear(wide, narrow)

    def forward(self, x):
        return torch.relu(self.fc(x))


def get_inputs():
    return [torch.randn(rows, wide)]


def get_init_inputs():
    return [wide, narrow]
