# what: most of the product in floats of 8 bits, what is left of the factors by sums of its own
# met by: our own attempts on PyTorch's other products
# caught by: rules: what executes while forward runs
# expect: reject
# task: linear
# device: cpu
import torch


class ModelNew(torch.nn.Module):
    def __init__(self, wide, narrow):
        super().__init__()
        self.fc = torch.nn.Linear(wide, narrow)

    def forward(self, x):
        w, one = self.fc.weight.detach(), torch.ones(())
        a, b = (t.nan_to_num(0.0).clamp(-200, 200).to(torch.float8_e4m3fn) for t in (x, w))
        y = torch._scaled_mm(a, b.t(), one, one, out_dtype=torch.float32).double()
        high, large, small = a.double(), x.double(), w.double()
        y += torch.stack([((large - high) * row).sum(1) + (high * (row - part)).sum(1) for row, part in zip(small, b.double())], 1)
        return (y.float() + self.fc.bias).clamp(min=0)
