# what: watches its own work with PyTorch's profiler, and looks rows up
# looks like: work_embedding_bag, work_bilinear, work_distances, work_solve, work_blind_thread, work_blind_moment
# expect: pass
# task: linear
import torch


class ModelNew(torch.nn.Module):
    def __init__(self, wide, narrow):
        super().__init__()
        self.fc = torch.nn.Linear(wide, narrow)

    def forward(self, x):
        with torch.autograd.profiler.record_function("product"):
            rows = torch.nn.functional.embedding(torch.arange(x.shape[0], device=x.device), x)
            y = (rows[:, None] * self.fc.weight).sum(2)
        return (y + self.fc.bias).clamp(min=0)
