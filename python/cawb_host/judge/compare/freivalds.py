"""Products checked without making them: C r against A (B r), r a secret vector.

Independent of the reference: whoever has A, B and a time to write C in cannot guess r, and
the check costs one pass over each matrix. In float64; relative to |A| (|B| |r|), so that
sums which cancel say nothing.

A forward runs with the products left out: operators that are linear in them are followed
by algebra.py, those that come before are executed. Any other operator that takes a
product's result ends it, with a reason.
"""
import hashlib
import math

import torch

from cawb_host.judge.compare.algebra import (Known, Product, Reshaped, Scaled, Sum, Transposed, Unfit, contracted,
                     depends, times)
from cawb_host.base.fault import Fault, kind_of as kind_of_error
from cawb_host.torch.mode import Mode
from cawb_host.torch import operators
from cawb_host.torch.recorder import results_of, storage, tensors_in
from cawb_host.judge.compare.gpu_output import rows_of_bytes
from cawb_host.base.tensors import number

CASES = (None, "mixed", "positive", "integers", "edges", "ties")    # with finite results

# How far eager PyTorch's own product may be off, when the task is looked at.
NEAR = {torch.float64: 1e-12, torch.float32: 1e-5, torch.float16: 2e-3, torch.bfloat16: 1.6e-2}

# Operators that may come before a product. They are done again for each check: they are cheap beside it.
BEFORE = ("view", "pointwise", "reduction", "normalization")


class Follow(Mode):
    """Executes a forward but for its products, whose results are tensors without memory."""

    def __init__(self, device):
        super().__init__()
        self.device, self.nodes, self.kept, self.func = device, {}, [], None

    def node(self, value):
        """The node of an argument that is a tensor or a number, else the argument itself."""
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            value = torch.tensor(float(value), dtype=torch.float64, device=self.device)
        if not isinstance(value, torch.Tensor):
            return value
        if id(value) in self.nodes:
            return self.nodes[id(value)]
        return Known(value.to(self.device) if value.dim() == 0 else value)

    def place(self, node, tensor):
        """Let a tensor stand for a node. It stays, so that no other gets its id."""
        self.kept.append(tensor)
        self.nodes[id(tensor)] = node
        return tensor

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs, form = kwargs or {}, operators.of(func).form
        given = list(tensors_in([list(args), list(kwargs.values())]))
        if form not in PRODUCTS and not any(id(t) in self.nodes for t in given):
            return self.execute(func, args, kwargs, given)
        if form not in RULES:
            raise Unfit("%s takes a product's result, and is not linear" % func)
        self.func = func
        made = RULES[form](self, [self.node(a) for a in args], args, kwargs)
        places = [kwargs[name] for name in results_of(func)] or args[:1]
        if func._schema.is_mutable:
            if tuple(places[0].shape) != tuple(made.shape):
                raise Unfit("%s changes a product's shape in place" % func)
            return self.place(made, places[0])
        dtype = kwargs.get("dtype") or given[-1].dtype
        return self.place(made, torch.empty(made.shape, dtype=dtype, device="meta"))

    def execute(self, func, args, kwargs, given):
        """Does an operator before a product, unless it takes long."""
        result = func(*args, **kwargs)
        made, behind = list(tensors_in(result)), {storage(t) for t in given}
        aliases = bool(made) and all(storage(t) in behind for t in made)
        row = operators.of(func, aliases)
        if func.namespace == "aten" and row.kind not in BEFORE and not row.moves:
            raise Unfit("%s would have to be done again for every check" % func)
        return result


def product(_mode, nodes, _args, _kwargs):
    return Product(*nodes[:2])


def added_product(_mode, nodes, _args, kwargs):
    made = Product(*nodes[1:3])
    return Sum([(kwargs.get("beta", 1), nodes[0]), (kwargs.get("alpha", 1), made)], made.shape)


def summed(sign):
    def rule(_mode, nodes, args, kwargs):
        alpha = kwargs.get("alpha", args[2] if len(args) > 2 else 1)
        terms = [(1, nodes[0]), (sign * alpha, nodes[1])]
        return Sum(terms, torch.broadcast_shapes(*(node.shape for _, node in terms)))
    return rule


def scaled(_mode, nodes, _args, _kwargs):
    node, factor = nodes[:2] if depends(nodes[0]) else nodes[1::-1]
    if depends(factor):
        raise Unfit("two products are multiplied with one another")
    return Scaled(node, factor.tensor, torch.broadcast_shapes(node.shape, factor.shape))


def divided(_mode, nodes, _args, kwargs):
    node, factor = nodes[:2]
    if depends(factor) or kwargs.get("rounding_mode"):
        raise Unfit("a division by a product, or one that rounds")
    return Scaled(node, 1 / factor.tensor.to(torch.float64),
                  torch.broadcast_shapes(node.shape, factor.shape))


def negated(_mode, nodes, _args, _kwargs):
    return Sum([(-1, nodes[0])], nodes[0].shape)


def same(_mode, nodes, _args, kwargs):
    if not (kwargs.get("dtype") or torch.float32).is_floating_point:
        raise Unfit("a product's result as whole numbers")
    return nodes[0]


def viewed(mode, nodes, args, _kwargs):
    shaped = mode.func(torch.empty(nodes[0].shape, device="meta"), *args[1:])
    return Reshaped(nodes[0], shaped.shape)


def swapped(_mode, nodes, args, _kwargs):
    """A transpose of the last two dimensions, said in any way."""
    node, rank = nodes[0], len(nodes[0].shape)
    order = list(range(rank))
    if len(args) == 1:
        order.reverse()
    elif isinstance(args[1], (list, tuple)):
        order = [d % rank for d in args[1]]
    else:
        order[args[1]], order[args[2]] = order[args[2]], order[args[1]]
    if order == list(range(rank)):
        return node
    if node.whole or order != list(range(rank - 2)) + [rank - 1, rank - 2]:
        raise Unfit("a transpose of other than a product's last two dimensions")
    return Transposed(node)


def reduced(mean):
    def rule(mode, nodes, args, kwargs):
        node, dims = nodes[0], args[1] if len(args) > 1 else kwargs.get("dim")
        dims = [dims] if isinstance(dims, int) else dims or range(len(node.shape))
        keep = args[2] if len(args) > 2 else kwargs.get("keepdim", False)
        found = contracted(node, dims, keep, mode.device)
        count = math.prod(node.shape[d] for d in dims) if mean else 1
        return Known(found.tensor / count, found.sizes / count)
    return rule


# By an operator's trait for sums of products in the table of operators.
PRODUCTS = {"product": product, "added product": added_product}
RULES = dict(PRODUCTS, sum=summed(1), difference=summed(-1), scale=scaled, quotient=divided, negation=negated,
             same=same, transpose=swapped, reshape=viewed, total=reduced(False), mean=reduced(True))


class Check:
    """Of one task: which of its outputs are linear in products, and their errors."""

    def __init__(self, runner):
        self.runner, self.outputs, self.why, self.eager = runner, [], None, {}

    def nodes(self, inputs, seed):
        """The node of each output, or None."""
        mode = Follow(self.runner.device)
        results = self.runner.follow(inputs, seed, mode)
        return [mode.nodes.get(id(t)) for t in results]

    @torch.no_grad()
    def accept(self, trial, outputs):
        """Looks at eager PyTorch's outputs: which are linear in products, and agree?"""
        self.like = [torch.empty_like(t, device="meta") for t in outputs]
        try:
            nodes = self.nodes(trial.inputs, trial.seed)
            linear = [i for i, (n, t) in enumerate(zip(nodes, outputs))
                      if n is not None and t.dtype in NEAR and t.numel() > 0]
            errors = [float(self.errors(nodes[i], self.like[i], rows_of_bytes(outputs[i]), trial.seed + i)[0])
                      for i in linear]
        except Exception as error:  # pylint: disable=broad-except
            if getattr(error, "name", kind_of_error(error)) == "device":
                raise
            self.why = (error.message if isinstance(error, Fault) else str(error)).split("\n", 1)[0]
            return
        far = [e for i, e in zip(linear, errors) if not e <= NEAR[outputs[i].dtype]]
        if far:
            self.why = "PyTorch's own output is off by %.2g of its factors' size" % max(far)
        elif linear:
            self.outputs, self.eager = linear, dict(zip(linear, errors))
        else:
            self.why = "no output is linear in a product"

    @torch.no_grad()
    def begin(self, trial, outs_at, back):
        """Handles of the errors in each slot, by output; outs_at(i) are its bytes, in rows."""
        if not self.outputs or trial.case not in CASES:
            return {}
        nodes = self.nodes(trial.inputs, trial.seed)
        return {i: back.add(self.errors(nodes[i], self.like[i], outs_at(i), trial.seed + i)) for i in self.outputs}

    def errors(self, node, like, outs, seed):
        """The errors of outputs like this one: bytes of each, in rows."""
        size = like.numel() * like.element_size()
        outs = [out[:size].view(like.dtype).view(like.shape) for out in outs]
        if node.whole:
            want, scale = node.value(), node.value(True)
            found = [out.to(torch.float64) - want for out in outs]
        else:
            r = secret(node.shape[-1], self.runner.device, seed)
            want, scale = node.right(r), node.right(r.abs(), True)
            found = [times(out, r) - want for out in outs]
        errors = torch.stack([rms(d) for d in found])
        return torch.where(errors == 0, errors, errors / rms(scale))     # factors of zeros: 0 of 0


def describe(graph, check):
    """The facts about a task's products; empty if it has none."""
    if not any(e["kind"] == "matmul" for e in graph):
        return {}
    said = {"why": check.why} if check.why else {"outputs": [i + 1 for i in check.outputs]}
    return {"products": dict(said, checked=not check.why)}


def note(entries, errors, eager):
    """Enter the errors of an output's slots, and eager PyTorch's when the task was looked at."""
    for entry, error in zip(entries, errors):
        entry["product"] = number(error) if error == error else "nan"
        entry["eager"] = dict(entry["eager"], product=eager)


def secret(size, device, seed):
    """From the trial's seed, which nobody knows who wrote C; of its own, not the inputs' numbers again."""
    digits = hashlib.sha256(b"products %d" % seed).digest()
    generator = torch.Generator(device)
    generator.manual_seed(int.from_bytes(digits[:7], "little"))
    return torch.randn(size, generator=generator, dtype=torch.float64, device=device)


def rms(tensor):
    return tensor.square().mean().sqrt()
