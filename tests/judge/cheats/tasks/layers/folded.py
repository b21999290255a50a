"""A linear layer and a batch norm that is not in training."""
import torch

batch, wide, narrow = 16, 200, 64


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(wide, narrow)
        self.norm = torch.nn.BatchNorm1d(narrow).eval()

    def forward(self, x):
        return self.norm(self.fc(x))


def get_inputs():
    return [torch.rand(batch, wide)]
