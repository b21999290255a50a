# what: multiplies small matrices by PyTorch's operator to turn three columns
# looks like: work_sums_as_a_product, work_norm_for_variance
# expect: pass
# task: variance
import torch


class ModelNew(torch.nn.Module):
    def forward(self, x):
        turn = torch.eye(3, device=x.device) @ torch.eye(3, device=x.device)
        centred = (x - x.mean(1, keepdim=True)) * turn[0, 0]
        return (centred * centred).sum(1) / (x.shape[1] - 1)
