"""The mean over the results of a linear layer: in real arithmetic a product with the mean of its weights."""
import torch

batch, wide, narrow = 16, 256, 64


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(wide, narrow)

    def forward(self, x):
        return self.fc(x).mean(1)


def get_inputs():
    return [torch.rand(batch, wide)]
