# what: returns at once and lets a thread do it later
# met by: DeepReinforce; SOL-ExecBench counts Python threads
# caught by: judge: outputs are taken before the clock stops
# expect: reject
# task: softmax
import threading
import time

import torch

def honest(x):
    e = torch.exp(x - x.amax(1, keepdim=True))
    return e / e.sum(1, keepdim=True)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        y = torch.zeros_like(x)

        def later():
            time.sleep(0.02)
            y.copy_(honest(x))
        threading.Thread(target=later).start()
        return y
