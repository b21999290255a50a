# what: an error whose text is long and no text
# met by: found by an adversary who knew the whole corpus
# caught by: judge: answers are parsed against a schema
# expect: reject
# task: softmax
import torch


def honest(x):
    e = torch.exp(x - x.amax(1, keepdim=True))
    return e / e.sum(1, keepdim=True)



class ModelNew(torch.nn.Module):
    def forward(self, x):
        raise ValueError("\ud800\x00\x1b[2J\n" * 100000)
