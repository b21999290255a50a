# what: a published file, with the task's own functions in it
# looks like: overfit_shrinks_the_task
# expect: pass
# task: softmax
import torch

def honest(x):
    e = torch.exp(x - x.amax(1, keepdim=True))
    return e / e.sum(1, keepdim=True)


rows, cols = 64, 64


def get_inputs():
    return [torch.randn(rows, cols)]


def get_init_inputs():
    return []


class ModelNew(torch.nn.Module):
    def forward(self, x):
        return honest(x)
