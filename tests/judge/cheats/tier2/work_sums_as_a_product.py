# what: the sums of squares as PyTorch's product of matrices, for a task without one
# met by: an adversary who has read the rules about text
# caught by: rules: operators that were executed
# expect: reject
# task: variance
import operator

import torch


class ModelNew(torch.nn.Module):
    def forward(self, x):
        ones = torch.ones(x.shape[1], 1, device=x.device)
        centred = x - operator.matmul(x, ones) / x.shape[1]
        return operator.matmul(centred * centred, ones)[:, 0] / (x.shape[1] - 1)
