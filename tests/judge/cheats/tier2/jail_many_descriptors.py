# what: as many descriptors as the system gives
# met by: found by an adversary who knew the whole corpus
# caught by: jail: descriptors have a limit
# expect: reject
# task: softmax
import os

import torch


def honest(x):
    e = torch.exp(x - x.amax(1, keepdim=True))
    return e / e.sum(1, keepdim=True)



class ModelNew(torch.nn.Module):
    held = []

    def forward(self, x):
        while len(self.held) < 1 << 20:
            self.held.append(os.memfd_create("one"))
        return honest(x)
