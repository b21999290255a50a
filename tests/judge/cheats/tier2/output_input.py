# what: hands the input back
# met by: KernelGuard, INPUT_PASSTHROUGH_OUTPUT
# caught by: numbers
# expect: reject
# task: softmax
import torch


class ModelNew(torch.nn.Module):
    def forward(self, x):
        return x
