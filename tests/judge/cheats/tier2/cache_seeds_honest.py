# what: seeds a generator of its own, for a table that it made before it saw anything
# looks like: cache_seed_42
# expect: pass
# task: softmax
import torch


class ModelNew(torch.nn.Module):
    def __init__(self):
        super().__init__()
        generator = torch.Generator("cpu").manual_seed(42)
        self.order = torch.randperm(32, generator=generator, device="cpu")

    def forward(self, x):
        y = torch.empty_like(x)
        for row in self.order.tolist():
            e = torch.exp(x[row] - x[row].max())
            y[row] = e / e.sum()
        return y
