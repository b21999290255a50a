"""sizes: a graph whose sizes Dynamo has made symbolic. A package holds for one size, so each size gets a graph of its own."""
import copy

import torch
from torch._dynamo.convert_frame import compile_lock

from cawb.backend import fallback


def is_symbolic(x):
    """Whether an argument is a size, or has one that is not a number."""
    return isinstance(x, torch.SymInt) or isinstance(x, torch.Tensor) and any(isinstance(n, torch.SymInt) for n in (*x.shape, *x.stride()))


def form(x):
    return (tuple(x.shape), x.stride(), x.requires_grad) if isinstance(x, torch.Tensor) else x


def items(module):
    """(number of an argument, nodes) where nodes take the argument as a plain number: Dynamo makes a tensor of a float."""
    placeholders = enumerate(module.graph.find_nodes(op="placeholder"))
    found = ((i, [n for n in node.users if n.op == "call_method" and n.target == "item"]) for i, node in placeholders)
    return [(i, nodes) for i, nodes in found if nodes]


def with_numbers(module, args):
    """A copy of a graph with the numbers themselves: tensors without data, on which it is traced, have none."""
    module = torch.fx.GraphModule(module, copy.deepcopy(module.graph))
    for i, nodes in items(module):
        for node in nodes:
            node.replace_all_uses_with(args[i].item())
            module.graph.erase_node(node)
    module.recompile()
    return module


class Sizes:
    """`make(module, arguments)` traces a graph for the sizes and floats of these arguments and has its packages made meanwhile. `other` runs
    calls until they are there, those of further sizes than `most`, and those of sizes that cannot be traced."""

    def __init__(self, module, make, other, most):
        self.module, self.make, self.other, self.most, self.made = module, make, other, most, {}
        self.numbers = [i for i, _ in items(module)]

    def begun(self, key, args):
        """PyTorch traces one graph at a time. A compiled module that another thread calls meanwhile runs uncompiled; else it were an error."""
        with compile_lock, torch._dynamo.config.patch(error_on_nested_fx_trace=False):
            if key not in self.made:
                self.made[key] = self.traced(args)
            return self.made[key]

    def traced(self, args):
        try:
            return self.make(with_numbers(self.module, args) if self.numbers else self.module, list(args))
        except Exception as error:             # pylint: disable=broad-except   # a mistake of the program's shows itself where `other` runs
            fallback.once("cawb: a size of a graph runs without kernels of cawb: %s: %s" % (type(error).__name__, str(error).split("\n", 1)[0]))
            return self.other, ()

    def __call__(self, *args):
        key = (torch.is_grad_enabled(), *map(form, args), *[str(args[i].item()) for i in self.numbers])          # as text: -0.0 is not 0.0
        found = self.made.get(key)
        if found is None and len(self.made) < self.most:
            found = self.begun(key, args)
        if found is None:
            fallback.once("cawb: a graph was called with more than %d sizes; others run without kernels of cawb. options={\"sizes\": N} "
                          "allows more" % self.most)
        run, parts = found or (self.other, ())
        return run(*args) if all([part.ready() for part in parts]) else self.other(*args)
