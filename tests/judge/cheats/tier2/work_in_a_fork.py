# what: PyTorch's layer in a process that it forks for each call
# met by: an adversary who has read the rules about text
# caught by: rules: operators that were executed
# expect: reject
# task: linear
# device: cpu
import os

import torch

torch.set_num_threads(1)


class ModelNew(torch.nn.Module):
    def __init__(self, wide, narrow):
        super().__init__()
        self.fc = torch.nn.Linear(wide, narrow)

    def forward(self, x):
        y = torch.zeros(x.shape[0], self.fc.out_features).share_memory_()
        pid = os.fork()
        if pid == 0:
            y.copy_(self.fc(x))
            os._exit(0)
        os.waitpid(pid, 0)
        return y.clamp(min=0)
