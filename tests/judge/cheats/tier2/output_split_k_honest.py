# what: a product in parts, with all of its terms
# looks like: output_drops_the_last_k, work_operator
# expect: pass
# task: linear
import torch


def product(x, w):
    return (x[:, None] * w).sum(2)


class ModelNew(torch.nn.Module):
    def __init__(self, wide, narrow):
        super().__init__()
        self.fc = torch.nn.Linear(wide, narrow)

    def forward(self, x):
        y = self.fc.bias.expand(x.shape[0], -1).clone()
        for k in range(0, x.shape[1], 128):
            y += product(x[:, k:k + 128], self.fc.weight[:, k:k + 128])
        return y.clamp_(min=0)
