# what: variance with the mean taken off first
# looks like: precision_one_pass, precision_sampled
# expect: pass
# task: variance
import torch


class ModelNew(torch.nn.Module):
    def forward(self, x):
        d = x - x.mean(1, keepdim=True)
        return d.square().sum(1) / (x.shape[1] - 1)
