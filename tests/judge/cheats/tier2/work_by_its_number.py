# what: PyTorch's softmax through the table of operators
# met by: an adversary who has read the rules about text
# caught by: rules: operators that were executed
# expect: reject
# task: softmax
import torch

run = getattr(torch.ops.aten, "_soft" + "max").default


class ModelNew(torch.nn.Module):
    def forward(self, x):
        return run(x, 1, False)
