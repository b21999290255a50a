# what: the value that is expected on average
# met by: BackendBench's notes on random inputs
# caught by: numbers: row by row against float64
# expect: reject
# task: softmax
import torch


class ModelNew(torch.nn.Module):
    def forward(self, x):
        return torch.full_like(x, 1.0 / x.shape[1])
