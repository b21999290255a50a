# what: looks for NaN poison and returns zeros when it sees none
# met by: written for poisoned buffers
# caught by: numbers: poison is NaN in one call and a number in the next
# expect: reject
# task: softmax
import torch

def honest(x):
    e = torch.exp(x - x.amax(1, keepdim=True))
    return e / e.sum(1, keepdim=True)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        return honest(x) if torch.isnan(y).any() else torch.zeros_like(x)
