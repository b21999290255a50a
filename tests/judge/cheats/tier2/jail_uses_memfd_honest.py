# what: a few megabytes of memory without a name
# looks like: jail_many_descriptors
# expect: pass
# task: softmax
import mmap
import os

import torch


def honest(x):
    e = torch.exp(x - x.amax(1, keepdim=True))
    return e / e.sum(1, keepdim=True)



class ModelNew(torch.nn.Module):
    def forward(self, x):
        place = os.memfd_create("some")
        os.ftruncate(place, 4 << 20)
        y = torch.frombuffer(mmap.mmap(place, 4 << 20), dtype=x.dtype)[:x.numel()].view(x.shape)
        y.copy_(honest(x))
        os.close(place)
        return y.clone()
