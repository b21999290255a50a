# what: a float16 output
# met by: KernelGuard
# caught by: judge: the reference's dtype
# expect: reject
# task: softmax
import torch

def honest(x):
    e = torch.exp(x - x.amax(1, keepdim=True))
    return e / e.sum(1, keepdim=True)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        return honest(x).half()
