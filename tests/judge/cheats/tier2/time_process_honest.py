# what: a process that it waits for
# looks like: time_late_process, jail_daemon, jail_fork_bomb, judge_exits
# expect: pass
# task: softmax
# device: cpu
import mmap
import os

import torch


def honest(x):
    e = torch.exp(x - x.amax(1, keepdim=True))
    return e / e.sum(1, keepdim=True)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        y = torch.frombuffer(mmap.mmap(-1, x.nbytes), dtype=x.dtype).view(x.shape)
        pid = os.fork()
        if pid == 0:
            y.copy_(torch.stack([honest(row[None])[0] for row in x]))
            os._exit(0)
        os.waitpid(pid, 0)
        return y
