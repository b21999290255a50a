"""The product of two matrices in float32, without tensor cores."""
import torch
import torch.nn as nn

# m * n * k multiplications on (m * k + k * n) floats: the only example here with more
# arithmetic than traffic, once each element that is fetched is used often enough. The
# lesson is reuse, first in shared memory, then in registers. Three different sizes
# catch a kernel that confuses two of them.
m = 512
n = 256
k = 128


class Model(nn.Module):
    """C[m, n] = A[m, k] B[k, n]."""

    def forward(self, a, b):
        return torch.matmul(a, b)


def get_inputs():
    return [torch.randn(m, k), torch.randn(k, n)]


def get_init_inputs():
    return []
