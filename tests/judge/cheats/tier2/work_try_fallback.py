# what: a kernel that fails and PyTorch behind it
# met by: Kevin, first reported
# caught by: rules: try around a fallback
# expect: reject
# task: softmax
import torch


class ModelNew(torch.nn.Module):
    def forward(self, x):
        try:
            return extension.softmax(x)
        except NameError:
            return torch.softmax(x, dim=1)
