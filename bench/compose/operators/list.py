"""Tasks of one operator each, from PyTorch's own list of operators and samples of their arguments
(torch.testing._internal.common_methods_invocations.op_db): list.py FOLDER [SAMPLES] [PATTERN] writes
FOLDER/NAME.K.py and prints a line for each: name, K, path."""
import os
import re
import sys
import types
import unittest

sys.modules.setdefault("expecttest", types.SimpleNamespace(TestCase=unittest.TestCase))    # which op_db itself does not use
import torch
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils._pytree import tree_map as mapped_tree

TASK = '''import sys
import types
import unittest
sys.modules.setdefault("expecttest", types.SimpleNamespace(TestCase=unittest.TestCase))    # which op_db itself does not use
import torch
torch.backends.disable_global_flags = lambda: None        # the host sets them
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils._pytree import tree_flatten, tree_unflatten

OPERATOR = next(o for o in op_db if o.full_name == %r)
LEAVES, TREE = tree_flatten(torch.load(%r, weights_only=False))

def drawn(x):
    """A sample's tensor, other numbers of about its size and the same signs."""
    return x * (1 + 0.1 * torch.rand_like(x)) if x.is_floating_point() else x.clone()

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.leaves = [None if isinstance(x, torch.Tensor) else (x,) for x in LEAVES]

    def forward(self, *tensors):
        tensors = iter(tensors)
        leaves = [next(tensors) if x is None else x[0] for x in self.leaves]
        args, kwargs = tree_unflatten(leaves, TREE)
        return OPERATOR.op(*args, **kwargs)

def get_inputs():
    return [drawn(x.contiguous()) for x in LEAVES if isinstance(x, torch.Tensor)]

def get_init_inputs():
    return []
'''


def samples_of(op, most):
    """Some samples, by number, those first that have some elements."""
    try:
        found = list(enumerate(op.sample_inputs("cpu", torch.float32)))
    except Exception as error:  # pylint: disable=broad-except
        print("-- %s: %s" % (op.full_name, str(error).splitlines()[0]), file=sys.stderr)
        return []
    sizes = [(x.input.numel() if isinstance(x.input, torch.Tensor) else 2, k, x) for k, x in found]
    fit = [(k, x) for n, k, x in sizes if 1 < n <= 100000] or [(k, x) for n, k, x in sizes if n]
    step = max(1, len(fit) // most)
    return fit[::step][:most]


def plain(x):
    return mapped_tree(lambda t: t.detach() if isinstance(t, torch.Tensor) else t, x)


def main(folder, most="1", pattern="."):
    os.makedirs(folder, exist_ok=True)
    seen = set()
    for op in op_db:
        if op.full_name in seen or not re.search(pattern, op.full_name) or not op.supports_dtype(torch.float32, "cpu"):
            continue
        seen.add(op.full_name)
        for k, found in samples_of(op, int(most)):
            path = os.path.join(folder, "%s.%d" % (op.full_name, k))
            try:
                torch.save(plain(((found.input,) + tuple(found.args), dict(found.kwargs))), path + ".pt")
            except Exception:  # pylint: disable=broad-except
                continue
            with open(path + ".py", "w", encoding="utf-8") as file:
                file.write(TASK % (op.full_name, path + ".pt"))
            print("%s\t%d\t%s" % (op.full_name, k, path + ".py"))


main(*sys.argv[1:])
