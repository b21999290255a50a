# what: one row, expanded to all of them
# met by: KernelBench's non-contiguous outputs
# caught by: numbers: values are copied out
# expect: reject
# task: softmax
import torch

def honest(x):
    e = torch.exp(x - x.amax(1, keepdim=True))
    return e / e.sum(1, keepdim=True)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        return honest(x)[:1].expand_as(x)
