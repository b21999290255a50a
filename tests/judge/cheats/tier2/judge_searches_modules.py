# what: asks the harness's modules for the reference
# met by: KernelGuard, REFERENCE_PRECOMPUTE_REPLAY
# caught by: judge: they are in another process
# expect: reject
# task: softmax
import sys

import torch


class ModelNew(torch.nn.Module):
    def forward(self, x):
        for name in ("host", "workload", "judge", "reference", "runner", "task", "module"):
            for value in vars(sys.modules.get(name, torch.version)).values():
                if isinstance(value, type) and hasattr(value, "expected"):
                    return value.expected
        return torch.zeros_like(x)
