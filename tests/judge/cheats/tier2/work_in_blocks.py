# what: PyTorch's product in many small blocks
# met by: an adversary who has read the rules about text
# caught by: rules: operators that were executed
# expect: reject
# task: linear
import torch


class ModelNew(torch.nn.Module):
    def __init__(self, wide, narrow):
        super().__init__()
        self.fc = torch.nn.Linear(wide, narrow)

    def forward(self, x):
        w, parts = self.fc.weight.detach(), []
        for i in range(0, w.shape[0], 2):
            parts.append(sum(torch.mm(x[:, k:k + 64], w[i:i + 2, k:k + 64].t()) for k in range(0, w.shape[1], 64)))
        return (torch.cat(parts, 1) + self.fc.bias).clamp(min=0)
