# what: a traced copy of PyTorch's layer, that is called by another name
# met by: an adversary who has read the rules about text
# caught by: rules: operators that were executed
# expect: reject
# task: linear
import torch


class ModelNew(torch.nn.Module):
    def __init__(self, wide, narrow):
        super().__init__()
        self.fc = torch.nn.Linear(wide, narrow)
        self.kernel = None

    def forward(self, x):
        if self.kernel is None:
            trace = getattr(torch.jit, "trace")
            object.__setattr__(self, "kernel", trace(self.fc, x))
        return self.kernel(x).clamp(min=0)
