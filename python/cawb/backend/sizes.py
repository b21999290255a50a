"""sizes: a graph whose sizes Dynamo has made symbolic. A package holds for one size, so each size gets a graph of its own."""
import torch

from cawb.backend import fallback


def is_symbolic(x):
    """Whether an argument is a size, or has one that is not a number."""
    return isinstance(x, torch.SymInt) or isinstance(x, torch.Tensor) and any(isinstance(n, torch.SymInt) for n in (*x.shape, *x.stride()))


def form(x):
    return (tuple(x.shape), x.stride(), x.requires_grad) if isinstance(x, torch.Tensor) else x


class Sizes:
    """`make(module, arguments)` traces a graph for the sizes of these arguments and has its packages made meanwhile. `other` runs calls
    until they are there, and those of further sizes than `most`."""

    def __init__(self, module, make, other, most):
        self.module, self.make, self.other, self.most, self.made = module, make, other, most, {}

    def __call__(self, *args):
        key = (torch.is_grad_enabled(), *map(form, args))
        found = self.made.get(key)
        if found is None and len(self.made) < self.most:
            found = self.made[key] = self.make(self.module, list(args))
        if found is None:
            fallback.once("cawb: a graph was called with more than %d sizes; others run without kernels of cawb. options={\"sizes\": N} "
                          "allows more" % self.most)
        run, parts = found or (self.other, ())
        return run(*args) if all([part.ready() for part in parts]) else self.other(*args)
