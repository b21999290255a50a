# what: a class called Softmax and a function called softmax, of its own
# looks like: work_by_its_number, work_log_softmax, work_attention_for_softmax
# expect: pass
# task: softmax
import torch


def softmax(x, dim):
    e = torch.exp(x - x.amax(dim, keepdim=True))
    return e / e.sum(dim, keepdim=True)


class Softmax(torch.nn.Module):
    def forward(self, x):
        return softmax(x, 1)


class ModelNew(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList([Softmax()])

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x
