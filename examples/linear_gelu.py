"""A linear layer and GELU, half of a transformer's feed-forward block."""
import torch
import torch.nn as nn
import torch.nn.functional as F

# 2 * batch * inputs * outputs operations; eager PyTorch multiplies in a library, adds the
# bias there, and then reads and writes the whole result once more for GELU. What is to be
# won is that second pass. This is the exact GELU; the one that libraries can do on the way
# out is the tanh approximation, another function (approximate=True here).
batch = 128
inputs = 256
outputs = 512
approximate = False


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(inputs, outputs)

    def forward(self, x):
        return F.gelu(self.fc(x), approximate="tanh" if approximate else "none")


def get_inputs():
    return [torch.randn(batch, inputs)]


def get_init_inputs():
    return []
