# what: the layer in another layout of PyTorch's
# met by: an adversary who has read the rules about text
# caught by: rules: operators that were executed
# expect: reject
# task: linear
# device: cpu
import torch
import torch.utils.mkldnn


class ModelNew(torch.nn.Module):
    def __init__(self, wide, narrow):
        super().__init__()
        self.fc = torch.nn.Linear(wide, narrow)

    def forward(self, x):
        layer = torch.utils.mkldnn.to_mkldnn(self.fc)
        return layer(x.to_mkldnn()).to_dense().clamp(min=0)
