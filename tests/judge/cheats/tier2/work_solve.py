# what: the matrix product as the solution of a system whose matrix is one
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
        one = torch.eye(x.shape[1], device=x.device)
        y = torch.linalg.lu_solve(*torch.linalg.lu_factor(one), self.fc.weight.detach().t())
        return (torch.linalg.multi_dot([x, y, torch.eye(y.shape[1], device=x.device)]) + self.fc.bias).clamp(min=0)
