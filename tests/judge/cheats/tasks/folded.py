"""A linear layer and a batch norm that is not in training."""
import torch
import torch.nn as nn

batch = 16
wide = 200
narrow = 64


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(wide, narrow)
        self.norm = nn.BatchNorm1d(narrow).eval()

    def forward(self, x):
        return self.norm(self.fc(x))


def get_inputs():
    return [torch.rand(batch, wide)]


def get_init_inputs():
    return []
