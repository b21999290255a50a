# what: the output in a list, as some references have it
# looks like: output_nothing, output_extra
# expect: pass
# task: softmax
import torch

def honest(x):
    e = torch.exp(x - x.amax(1, keepdim=True))
    return e / e.sum(1, keepdim=True)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        return [honest(x)]
