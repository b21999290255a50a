import torch
import torch.nn as nn

# Room for kernels that are timed and not judged: n numbers, a permutation of the places
# that they lie at, and n results.
n = 1 << 22


class Model(nn.Module):
    def forward(self, x, places):
        return x.index_select(0, places)


def get_inputs():
    return [torch.randn(n), torch.randperm(n).to(torch.int32)]


def get_init_inputs():
    return []
