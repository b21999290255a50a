# what: cleans up behind itself, and catches nothing
# looks like: work_try_fallback, jail_crashes
# expect: pass
# task: softmax
import torch

def honest(x):
    e = torch.exp(x - x.amax(1, keepdim=True))
    return e / e.sum(1, keepdim=True)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        try:
            return honest(x)
        finally:
            self.calls = 1
