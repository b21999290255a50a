# what: returns a tensor whose shape and type lie
# met by: found by an adversary who knew the whole corpus
# caught by: judge: answers are parsed against a schema
# expect: reject
# task: softmax
import torch


def honest(x):
    e = torch.exp(x - x.amax(1, keepdim=True))
    return e / e.sum(1, keepdim=True)


class Odd(torch.Tensor):
    @property
    def shape(self):
        return [10 ** 12]

    def detach(self):
        raise MemoryError("no")


class ModelNew(torch.nn.Module):
    def forward(self, x):
        return Odd(honest(x))
