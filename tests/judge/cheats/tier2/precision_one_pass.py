# what: variance from the mean of squares
# met by: kernelbench.com, stability dropped for speed
# caught by: numbers: inputs far from zero
# expect: reject
# task: variance
import torch


class ModelNew(torch.nn.Module):
    def forward(self, x):
        n = x.shape[1]
        return (x.square().sum(1) - x.sum(1).square() / n) / (n - 1)
