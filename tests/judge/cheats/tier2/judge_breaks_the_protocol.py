# what: announces an answer of four gigabytes
# met by: fuzzing
# caught by: judge: answers have a limit
# expect: reject
# task: softmax
import os

import torch

def honest(x):
    e = torch.exp(x - x.amax(1, keepdim=True))
    return e / e.sum(1, keepdim=True)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        os.write(3, b"\xff\xff\xff\xff" + b"x" * 1000)
        return honest(x)
