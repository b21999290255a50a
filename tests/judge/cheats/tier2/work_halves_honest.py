# what: weights in two 16-bit halves, and sums of its own products
# looks like: work_packed_halves, work_quantized_halves, work_prepacked, work_linear_pointwise
# expect: pass
# task: linear
import torch


class ModelNew(torch.nn.Module):
    def __init__(self, wide, narrow):
        super().__init__()
        self.fc = torch.nn.Linear(wide, narrow)

    def forward(self, x):
        w = self.fc.weight
        high = w.half()
        low = w - high.float()
        return ((x[:, None] * high.float()).sum(2) + (x[:, None] * low).sum(2) + self.fc.bias).clamp(min=0)
