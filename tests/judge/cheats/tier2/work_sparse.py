# what: the matrix product of a sparse matrix without a zero
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
        return (torch.sparse.mm(x.to_sparse(), self.fc.weight.T) + self.fc.bias).clamp(min=0)
