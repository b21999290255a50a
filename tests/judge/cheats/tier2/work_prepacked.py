# what: the layer as phones have it
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
        packed = torch.ops.prepacked.linear_clamp_prepack(self.fc.weight.detach(), self.fc.bias.detach(), None, None)
        return torch.ops.prepacked.linear_clamp_run(x, packed).clamp(min=0)
