# what: opens the descriptors of other processes
# met by: pygpubench, fd forging
# caught by: jail: processes of its own
# expect: reject
# task: softmax
import os

import torch

def honest(x):
    e = torch.exp(x - x.amax(1, keepdim=True))
    return e / e.sum(1, keepdim=True)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        for pid in range(1, os.getpid()):
            for fd in os.listdir("/proc/%d/fd" % pid):
                if "memfd" in os.readlink("/proc/%d/fd/%s" % (pid, fd)):
                    return honest(x)
        return torch.zeros_like(x)
