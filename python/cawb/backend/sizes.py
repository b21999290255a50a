"""sizes: a graph whose sizes Dynamo has made symbolic. A package holds for one size, so each size gets a graph of its own."""
import torch

from cawb.backend import fallback


def is_symbolic(x):
    """Whether an argument is a size, or has one that is not a number."""
    return isinstance(x, torch.SymInt) or isinstance(x, torch.Tensor) and any(isinstance(n, torch.SymInt) for n in (*x.shape, *x.stride()))


def form(x):
    return (tuple(x.shape), x.stride(), x.requires_grad) if isinstance(x, torch.Tensor) else x


class Sizes:
    """`make(module, arguments)` compiles a graph for the sizes of these arguments. Beyond `most` sizes PyTorch runs it."""

    def __init__(self, module, make, most):
        self.module, self.make, self.most, self.made = module, make, most, {}

    def __call__(self, *args):
        key = (torch.is_grad_enabled(), *map(form, args))
        if key not in self.made:
            if len(self.made) >= self.most:
                fallback.once("cawb: a graph was called with more than %d sizes and runs as eager for others; options={\"sizes\": N} "
                              "allows more" % self.most)
                return self.module(*args)
            self.made[key] = self.make(self.module, list(args))
        return self.made[key](*args)
