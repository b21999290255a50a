# what: scales and offsets by another package, a small product of it for three sums, its own product for the rest
# looks like: work_operator_of_arrays, work_covariance_of_arrays, work_whole_numbers, work_eighths_scaled
# expect: pass
# task: linear
# device: cpu
import operator

import numpy
import torch


class ModelNew(torch.nn.Module):
    def __init__(self, wide, narrow):
        super().__init__()
        self.fc = torch.nn.Linear(wide, narrow)

    def forward(self, x):
        turn = operator.matmul(numpy.eye(3), numpy.eye(3))[0, 0]
        w = self.fc.weight.detach()
        y = torch.stack([(x * row).sum(1) for row in w], 1) * float(turn)
        return (y + self.fc.bias).clamp(min=0)
