# what: computes wider than asked and rounds once
# looks like: precision_output_half
# expect: pass
# task: softmax
import torch


class ModelNew(torch.nn.Module):
    def forward(self, x):
        e = torch.exp(x.double() - x.amax(1, keepdim=True).double())
        return (e / e.sum(1, keepdim=True)).float()
