# what: measures itself and keeps it to itself
# looks like: time_patches_event, time_patches_clock, time_patches_synchronize
# expect: pass
# task: softmax
import time

import torch

def honest(x):
    e = torch.exp(x - x.amax(1, keepdim=True))
    return e / e.sum(1, keepdim=True)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        started = time.perf_counter()
        y = honest(x)
        self.spent = time.perf_counter() - started
        return y
