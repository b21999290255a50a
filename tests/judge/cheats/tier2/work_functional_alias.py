# what: the same, bound before anyone looks
# met by: CUDA-Agent's blocker replaces names in torch.nn.functional only
# caught by: rules: names behind imports
# expect: reject
# task: softmax
from torch.nn.functional import softmax as fast_kernel
import torch


class ModelNew(torch.nn.Module):
    def forward(self, x):
        return fast_kernel(x, dim=1)
