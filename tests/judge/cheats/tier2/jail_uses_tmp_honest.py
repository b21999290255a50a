# what: writes and reads a few megabytes of temporary files
# looks like: jail_fills_the_disk, jail_takes_all_memory, jail_mounts, jail_new_namespace
# expect: pass
# task: softmax
import tempfile

import torch

def honest(x):
    e = torch.exp(x - x.amax(1, keepdim=True))
    return e / e.sum(1, keepdim=True)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        with tempfile.TemporaryFile() as file:
            file.write(bytes(1 << 20))
        return honest(x)
