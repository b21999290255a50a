# what: its own functions are called linear, mm and relu
# looks like: work_operator_module, work_module_in_a_list, work_through_dict, work_multi_dot, work_chain_matmul, work_private_operator, work_vmap, work_as_convolution
# expect: pass
# task: linear
import torch
import torch.nn.functional as F


def mm(x, w):
    return (x[:, None] * w).sum(2)


def linear(x, w, b):
    return mm(x, w) + b


def relu(x):
    return x.clamp(min=0)


class ModelNew(torch.nn.Module):
    def __init__(self, wide, narrow):
        super().__init__()
        self.fc = torch.nn.Linear(wide, narrow)

    def forward(self, x):
        F_linear = {"linear": linear, "relu": relu}
        return F_linear["relu"](F_linear["linear"](x, self.fc.weight, self.fc.bias))
