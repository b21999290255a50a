# what: infinities, whose relative error is NaN
# met by: arXiv 2606.27396
# caught by: judge: infinities by class
# expect: reject
# task: softmax
import torch


class ModelNew(torch.nn.Module):
    def forward(self, x):
        return torch.full_like(x, float('inf'))
