# what: NaN, which no comparison with < rejects
# met by: pygpubench, check by max of differences
# caught by: judge: NaN never passes
# expect: reject
# task: softmax
import torch


class ModelNew(torch.nn.Module):
    def forward(self, x):
        return torch.full_like(x, float('nan'))
