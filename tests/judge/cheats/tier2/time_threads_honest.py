# what: threads that it waits for
# looks like: time_late_thread, judge_hangs
# expect: pass
# task: softmax
import threading

import torch

def honest(x):
    e = torch.exp(x - x.amax(1, keepdim=True))
    return e / e.sum(1, keepdim=True)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        half = x.shape[0] // 2
        parts = [threading.Thread(target=lambda s=s: y[s].copy_(honest(x[s])))
                 for s in (slice(0, half), slice(half, None))]
        for part in parts:
            part.start()
        for part in parts:
            part.join()
        return y
