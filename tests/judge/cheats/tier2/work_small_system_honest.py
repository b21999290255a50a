# what: a triangular system of two rows beside its own sums
# looks like: work_triangle, work_solve
# expect: pass
# task: linear
import torch


class ModelNew(torch.nn.Module):
    def __init__(self, wide, narrow):
        super().__init__()
        self.fc = torch.nn.Linear(wide, narrow)

    def forward(self, x):
        one = torch.linalg.solve_triangular(torch.eye(2, device=x.device), torch.ones(2, 1, device=x.device), upper=True)
        return ((x[:, None] * self.fc.weight).sum(2) + self.fc.bias * one[1, 0]).clamp(min=0)
