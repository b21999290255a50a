# what: workers that sleep until they are called
# looks like: time_late_thread, time_memfd_cache
# expect: pass
# task: softmax
import concurrent.futures

import torch


def honest(x):
    e = torch.exp(x - x.amax(1, keepdim=True))
    return e / e.sum(1, keepdim=True)



class ModelNew(torch.nn.Module):
    pool = None

    def forward(self, x):
        if self.pool is None:
            self.pool = concurrent.futures.ThreadPoolExecutor(2)
        half = x.shape[0] // 2
        parts = list(self.pool.map(honest, (x[:half], x[half:])))
        return torch.cat(parts)
