# what: a workspace in a file in memory
# looks like: jail_fills_files_in_memory
# expect: pass
# task: softmax
# device: cpu
import mmap
import os

import torch

room = os.memfd_create("workspace")
os.ftruncate(room, 32 * 128 * 4)
space = torch.frombuffer(mmap.mmap(room, 32 * 128 * 4), dtype=torch.float32).view(32, 128)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        torch.exp(x - x.amax(1, keepdim=True), out=space)
        return space / space.sum(1, keepdim=True)
