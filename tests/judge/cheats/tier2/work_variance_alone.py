# what: the task's one operator, by its method
# met by: an adversary who has read the rules about text
# caught by: rules: operators that were executed
# expect: reject
# task: variance
import torch


class ModelNew(torch.nn.Module):
    def forward(self, x):
        return getattr(x, "v" + "ar")(dim=1)
