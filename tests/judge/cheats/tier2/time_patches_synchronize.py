# what: torch.cuda.synchronize does nothing, and the work is skipped
# met by: KernelGuard
# caught by: judge: outputs are taken by another process
# expect: reject
# task: softmax
import torch

torch.cuda.synchronize = lambda *_: None


class ModelNew(torch.nn.Module):
    def forward(self, x):
        return torch.zeros_like(x)
