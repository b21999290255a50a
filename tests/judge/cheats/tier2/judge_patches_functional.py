# what: the reference's own functions return zeros
# met by: KernelGuard, MODULE_MUTATION
# caught by: judge: the reference runs elsewhere
# expect: reject
# task: softmax
import torch

nothing = lambda x, *_, **__: torch.zeros_like(x)
torch.softmax = torch.nn.functional.softmax = torch.Tensor.softmax = nothing


class ModelNew(torch.nn.Module):
    def forward(self, x):
        return torch.zeros_like(x)
