# what: answers twice and never again
# met by: deadlocked kernels
# caught by: judge: every request has a deadline
# expect: reject
# task: softmax
import torch


class ModelNew(torch.nn.Module):
    calls = 0

    def forward(self, x):
        self.calls += 1
        while self.calls > 2:
            pass
        e = torch.exp(x - x.amax(1, keepdim=True))
        return e / e.sum(1, keepdim=True)
