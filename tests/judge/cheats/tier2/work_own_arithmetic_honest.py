# what: arithmetic of its own that resembles the reference
# looks like: work_functional, work_functional_alias, work_obfuscated, work_compiled
# expect: pass
# task: softmax
import torch


class ModelNew(torch.nn.Module):
    def forward(self, x):
        top = x.amax(1, keepdim=True)
        y = torch.exp2((x - top) * 1.4426950408889634)
        return y / y.sum(1, keepdim=True)
