# what: memory from torch.empty, all of it written
# looks like: output_uninitialised, output_stale_block, output_skips_a_row
# expect: pass
# task: softmax
import torch

def honest(x):
    e = torch.exp(x - x.amax(1, keepdim=True))
    return e / e.sum(1, keepdim=True)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        for i in range(x.shape[0]):
            y[i] = honest(x[i:i + 1])[0]
        return y
