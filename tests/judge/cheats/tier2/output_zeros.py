# what: zeros, where a tolerance is larger than the values
# met by: KernelBench issue 165
# caught by: numbers: errors are relative to the reference
# expect: reject
# task: softmax
import torch


class ModelNew(torch.nn.Module):
    def forward(self, x):
        return torch.zeros_like(x)
