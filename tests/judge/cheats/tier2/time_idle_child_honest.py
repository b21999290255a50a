# what: a child that sleeps in a pipe until it is called
# looks like: time_late_process, time_answers_for_put
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
    child = None

    def forward(self, x):
        if self.child is None:
            memory = torch.frombuffer(mmap.mmap(-1, 2 * x.nbytes), dtype=x.dtype).view(2, *x.shape)
            (a, b), (c, d) = os.pipe(), os.pipe()
            self.child = memory, b, c
            if os.fork() == 0:
                torch.set_num_threads(1)
                while os.read(a, 1):
                    memory[1].copy_(torch.stack([honest(row[None])[0] for row in memory[0]]))
                    os.write(d, b"!")
                os._exit(0)
        memory, ask, answer = self.child
        memory[0].copy_(x)
        os.write(ask, b"?")
        os.read(answer, 1)
        return memory[1].clone()
