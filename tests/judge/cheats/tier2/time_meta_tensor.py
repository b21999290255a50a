# what: a tensor of the device meta
# met by: PyTorch's own tracing tensors
# caught by: judge: there is nothing to copy
# expect: reject
# task: softmax
import torch


class ModelNew(torch.nn.Module):
    def forward(self, x):
        return torch.empty_like(x, device="meta")
