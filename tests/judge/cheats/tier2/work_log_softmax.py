# what: PyTorch's softmax as the exponential of its logarithm
# met by: an adversary who has read the rules about text
# caught by: rules: operators that were executed
# expect: reject
# task: softmax
import torch

run = getattr(torch, "log_" + "softmax")


class ModelNew(torch.nn.Module):
    def forward(self, x):
        return run(x, 1).exp()
