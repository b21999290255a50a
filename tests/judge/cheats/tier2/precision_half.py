# what: float16 inside, float32 outside
# met by: KernelBench's static checker looks for this one only
# caught by: numbers: at most three times eager's own error
# expect: reject
# task: linear
import torch


def product(x, w):
    return (x[:, None] * w).sum(2)


class ModelNew(torch.nn.Module):
    def __init__(self, wide, narrow):
        super().__init__()
        self.fc = torch.nn.Linear(wide, narrow)

    def forward(self, x):
        y = product(x.half().float(), self.fc.weight.half().float()) + self.fc.bias
        return y.clamp(min=0)
