# what: every second element stands for both
# met by: KernelBench v0.1, statistical shortcuts
# caught by: numbers: row by row against float64
# expect: reject
# task: variance
import torch


class ModelNew(torch.nn.Module):
    def forward(self, x):
        return x[:, ::2].var(1)
