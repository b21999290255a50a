# what: a view with other strides and the right values
# looks like: output_stride_zero, output_broadcasts
# expect: pass
# task: softmax
import torch

def honest(x):
    e = torch.exp(x - x.amax(1, keepdim=True))
    return e / e.sum(1, keepdim=True)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        return honest(x).T.contiguous().T
