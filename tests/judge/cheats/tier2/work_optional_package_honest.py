# what: does without a package that is not there
# looks like: work_swallowed_exception, work_generator_throw, work_autograd
# expect: pass
# task: linear
import torch

try:
    import package_that_is_nowhere as fast
except ImportError:
    fast = None


class ModelNew(torch.nn.Module):
    def __init__(self, wide, narrow):
        super().__init__()
        self.fc = torch.nn.Linear(wide, narrow)

    def forward(self, x):
        return ((x[:, None] * self.fc.weight).sum(2) + self.fc.bias).clamp(min=0)
