# what: the layer as an operator for compilers
# met by: an adversary who listed all operators that multiply
# caught by: rules: operators that were executed
# expect: reject
# task: linear
# device: cpu
import torch


class ModelNew(torch.nn.Module):
    def __init__(self, wide, narrow):
        super().__init__()
        self.fc = torch.nn.Linear(wide, narrow)

    def forward(self, x):
        return torch.ops.mkldnn._linear_pointwise(x, self.fc.weight, self.fc.bias, "none", [], "").clamp(min=0)
