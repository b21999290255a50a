# what: bfloat16 inside, float32 outside
# met by: DeepReinforce
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
        y = product(x.bfloat16().float(), self.fc.weight.bfloat16().float()) + self.fc.bias
        return y.clamp(min=0)
