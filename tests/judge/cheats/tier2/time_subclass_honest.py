# what: a parameter class of its own, with plain tensors as outputs
# looks like: time_lazy_subclass, time_instance_methods, time_fake_tensor, time_meta_tensor, time_promise
# expect: pass
# task: softmax
import torch

def honest(x):
    e = torch.exp(x - x.amax(1, keepdim=True))
    return e / e.sum(1, keepdim=True)


class Scale(torch.nn.Parameter):
    pass


class ModelNew(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.one = Scale(torch.ones(()))

    def forward(self, x):
        return honest(x * self.one)
