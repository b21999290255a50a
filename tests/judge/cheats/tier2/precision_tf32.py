# what: inputs cut to TF32's ten bits, as tensor cores do
# met by: CUDA-Agent issue 16: seven times faster for free
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
        cut = lambda t: (t.view(torch.int32) & ~0x1FFF).view(torch.float32)
        return (product(cut(x), cut(self.fc.weight)) + self.fc.bias).clamp(min=0)
