# what: says that it passed and ends
# met by: kernelbot, cheat-fd.py
# caught by: judge: a worker that ended has failed
# expect: reject
# task: softmax
import os

import torch


class ModelNew(torch.nn.Module):
    def forward(self, x):
        print("check: pass", flush=True)
        os._exit(0)
