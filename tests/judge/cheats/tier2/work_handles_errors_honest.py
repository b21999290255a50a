# what: catches what its own kernel raises, says so, and raises it again
# looks like: work_attention_weights_alone
# expect: pass
# task: softmax
import sys

import torch


def kernel(x):
    e = torch.exp(x - x.amax(1, keepdim=True))
    return e / e.sum(1, keepdim=True)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        try:
            return kernel(x)
        except Exception as error:
            print("the kernel failed:", error, file=sys.stderr)
            raise
