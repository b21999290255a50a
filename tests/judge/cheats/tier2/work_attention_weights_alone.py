# what: softmax as the weights of attention to a unit matrix
# met by: an adversary who has read the rules about text
# caught by: rules: operators that were executed
# expect: reject
# task: softmax
import torch
import torch.nn.functional as F


class ModelNew(torch.nn.Module):
    def forward(self, x):
        n = x.shape[1]
        unit = torch.eye(n, device=x.device)[None]
        attend = getattr(F, "scaled_dot_" + "product_attention")
        return attend(x[None], unit, unit, scale=1.0)[0]
