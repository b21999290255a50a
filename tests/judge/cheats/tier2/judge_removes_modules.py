# what: takes modules away that the harness needs
# met by: KernelGuard, MODULE_MUTATION
# caught by: judge: a worker that fails has failed
# expect: reject
# task: softmax
import sys

import torch


class ModelNew(torch.nn.Module):
    def forward(self, x):
        for name in list(sys.modules):
            if name not in ("sys", "builtins"):
                del sys.modules[name]
        return torch.zeros_like(x)
