# what: the matrix product as weighted sums of looked-up rows
# met by: found by an adversary who knew the whole corpus
# caught by: rules: what executes while forward runs
# expect: reject
# task: linear
import torch


class ModelNew(torch.nn.Module):
    def __init__(self, wide, narrow):
        super().__init__()
        self.fc = torch.nn.Linear(wide, narrow)

    def forward(self, x):
        at = torch.arange(x.shape[1], device=x.device).expand(x.shape[0], -1)
        y = torch.nn.functional.embedding_bag(at, self.fc.weight.detach().t().contiguous(), per_sample_weights=x, mode="sum")
        return (y + self.fc.bias).clamp(min=0)
