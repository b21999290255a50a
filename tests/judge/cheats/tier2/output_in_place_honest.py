# what: works in place, on a copy of its own
# looks like: output_input, output_zeroes_the_input, output_writes_the_input
# expect: pass
# task: softmax
import torch


class ModelNew(torch.nn.Module):
    def forward(self, x):
        y = x.clone()
        y -= y.amax(1, keepdim=True)
        y.exp_()
        return y.div_(y.sum(1, keepdim=True))
