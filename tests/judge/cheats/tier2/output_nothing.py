# what: returns nothing
# met by: agents that write to globals
# caught by: judge: as many outputs as the reference has
# expect: reject
# task: softmax
import torch

def honest(x):
    e = torch.exp(x - x.amax(1, keepdim=True))
    return e / e.sum(1, keepdim=True)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        self.y = honest(x)
