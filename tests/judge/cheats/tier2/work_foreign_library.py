# what: calls somebody else's kernels
# met by: KernelGenBench, import of finished kernels
# caught by: jail: nothing but PyTorch is there
# expect: reject
# task: softmax
import torch
import flash_attn


class ModelNew(torch.nn.Module):
    def forward(self, x):
        return flash_attn.softmax(x)
