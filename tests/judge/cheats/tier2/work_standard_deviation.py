# what: the variance as PyTorch's, from a pair
# met by: an adversary who has read the rules about text
# caught by: rules: operators that were executed
# expect: reject
# task: variance
import torch


class ModelNew(torch.nn.Module):
    def forward(self, x):
        return torch.var_mean(x, dim=1)[0]
