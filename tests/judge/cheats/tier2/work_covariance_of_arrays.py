# what: the product as the covariance of rows, by another package
# met by: our own attempts on arrays
# caught by: rules: the products of arrays, as they are made
# expect: reject
# task: linear
# device: cpu
import numpy
import torch


class ModelNew(torch.nn.Module):
    def __init__(self, wide, narrow):
        super().__init__()
        self.fc = torch.nn.Linear(wide, narrow)

    def forward(self, x):
        rows = torch.cat([x, self.fc.weight.detach()]).double()
        k, mean = x.shape[1], rows.mean(1, keepdim=True)
        found = torch.from_numpy(numpy.cov((rows - mean).numpy())) * (k - 1) + k * mean * mean.t()
        return (found[:x.shape[0], x.shape[0]:].float() + self.fc.bias).clamp(min=0)
