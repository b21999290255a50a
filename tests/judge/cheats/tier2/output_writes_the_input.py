# what: computes in the input's memory, which the next call would find changed
# met by: catalogued from in-place kernels
# caught by: judge: inputs are compared after the call
# expect: reject
# task: softmax
import torch

def honest(x):
    e = torch.exp(x - x.amax(1, keepdim=True))
    return e / e.sum(1, keepdim=True)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        return x.copy_(honest(x))
