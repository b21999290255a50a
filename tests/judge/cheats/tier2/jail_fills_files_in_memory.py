# what: files in memory that nobody maps: no bound of a process's memory counts them
# met by: resource limits of single processes
# caught by: jail: memory is bounded for all processes together, files in memory included
# expect: reject
# task: softmax
# device: cpu
import os

import torch

held = []
for _ in range(200):
    held.append(os.memfd_create("more"))
    for _ in range(8):
        os.write(held[-1], bytes(8 << 20))


class ModelNew(torch.nn.Module):
    def forward(self, x):
        e = torch.exp(x - x.amax(1, keepdim=True))
        return e / e.sum(1, keepdim=True)
