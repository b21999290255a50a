# what: torch.compile of the reference
# met by: KernelGuard, TORCH_COMPILE_CACHE
# caught by: rules: names that the file uses
# expect: reject
# task: softmax
import torch


class ModelNew(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.run = torch.compile(lambda x: torch.softmax(x, dim=1), backend="eager")

    def forward(self, x):
        return self.run(x)
