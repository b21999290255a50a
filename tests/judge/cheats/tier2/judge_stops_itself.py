# what: stops its own process, so that nobody can measure it
# met by: job control
# caught by: judge: every request has a deadline
# expect: reject
# task: softmax
import os
import signal

import torch

def honest(x):
    e = torch.exp(x - x.amax(1, keepdim=True))
    return e / e.sum(1, keepdim=True)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        os.kill(os.getpid(), signal.SIGSTOP)
        return honest(x)
