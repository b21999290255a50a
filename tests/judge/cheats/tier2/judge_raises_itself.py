# what: an error that errs when it is printed, and is no exception that programs catch
# met by: found by an adversary who knew the whole corpus
# caught by: judge: answers are parsed against a schema
# expect: reject
# task: softmax
import torch


def honest(x):
    e = torch.exp(x - x.amax(1, keepdim=True))
    return e / e.sum(1, keepdim=True)


class Odd(BaseException):
    def __str__(self):
        raise Odd


class ModelNew(torch.nn.Module):
    def forward(self, x):
        raise Odd
