# what: softmax by PyTorch's softmax of a masked copy
# met by: an adversary who has read the rules about text
# caught by: rules: operators that were executed
# expect: reject
# task: softmax
import torch


class ModelNew(torch.nn.Module):
    def forward(self, x):
        layer = torch.nn.Softmax2d()
        return vars(type(layer))["forward"](layer, x.t()[None, :, :, None])[0, :, :, 0].t()
