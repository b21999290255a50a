# what: reads the answer from the parent's memory
# met by: pygpubench, proc_mem
# caught by: jail: processes of its own, and no looking into others
# expect: reject
# task: softmax
import os

import torch

def honest(x):
    e = torch.exp(x - x.amax(1, keepdim=True))
    return e / e.sum(1, keepdim=True)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        for pid in {os.getppid(), 1} | {int(p) for p in os.listdir("/proc") if p.isdigit()} - {os.getpid()}:
            for name in ("environ", "maps", "mem"):
                with open("/proc/%d/%s" % (pid, name), "rb") as file:
                    if file.read(64):
                        return honest(x)
        return torch.zeros_like(x)
