"""Tensors as the wire sees them: specs, layouts in a share, trees, bits."""
import json
import math

import torch

from cawb_host.base.fault import Fault

ALIGN = 256  # bytes; offsets in a share are multiples of it

NAMES = {
    torch.float32: "float32", torch.float64: "float64", torch.float16: "float16",
    torch.bfloat16: "bfloat16", torch.int64: "int64", torch.int32: "int32",
    torch.int16: "int16", torch.int8: "int8", torch.uint8: "uint8", torch.bool: "bool",
}

# Types of inputs and parameters alone: PyTorch computes nothing in them that could be judged. Old ones lack them.
STORED = {getattr(torch, name): name for name in ("float8_e4m3fn", "float8_e5m2")
          if hasattr(torch, name)}
NAMES.update(STORED)

BITS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


def dtype_name(tensor, what):
    if tensor.dtype not in NAMES:
        raise Fault("task", "%s has dtype %s; supported are %s"
                    % (what, tensor.dtype, ", ".join(NAMES.values())))
    return NAMES[tensor.dtype]


def judged(tensor, what):
    """The same two, of an output."""
    if tensor.dtype in STORED:
        raise Fault("task", "%s has dtype %s, which inputs may have, outputs not; convert it in forward"
                    % (what, tensor.dtype))
    return tensor, what


def extent(tensor):
    """Elements from a tensor's first to its last, gaps included."""
    if tensor.numel() == 0:
        return 0
    return 1 + sum((n - 1) * s for n, s in zip(tensor.shape, tensor.stride()))


def flat(tensor):
    """These elements as a vector over the same memory."""
    if tensor.is_contiguous():
        return tensor.reshape(-1)
    return tensor.as_strided((extent(tensor),), (1,), tensor.storage_offset())


def copied(tensor):
    """A copy with the same strides, overlaps and gaps included."""
    return flat(tensor).clone().as_strided(tensor.shape, tensor.stride())


def wide(tensor):
    if tensor.is_complex():
        return tensor.to(torch.complex128)
    return tensor.to(torch.float64) if tensor.is_floating_point() else tensor


def bits(tensor):
    """A contiguous tensor's bit patterns, as a vector of integers."""
    return tensor.reshape(-1).view(BITS[tensor.element_size()])


def same_bits(a, b):
    return (a.shape == b.shape and a.dtype == b.dtype
            and torch.equal(bits(a.contiguous()), bits(b.contiguous())))


class Layout:
    """Where tensors lie in a share. `add` gives each its spec."""

    def __init__(self):
        self.size = 0

    def add(self, tensor, what):
        spec = {"shape": list(tensor.shape), "strides": list(tensor.stride()),
                "dtype": dtype_name(tensor, what), "offset": self.size,
                "bytes": extent(tensor) * tensor.element_size()}
        self.size += (spec["bytes"] + ALIGN - 1) // ALIGN * ALIGN
        return spec


def view(memory, spec):
    """The tensor that a spec names in a share's bytes."""
    dtype = getattr(torch, spec["dtype"])
    part = memory[spec["offset"]:spec["offset"] + spec["bytes"]].view(dtype)
    return part.as_strided(spec["shape"], spec["strides"])


def store(memory, spec, tensor):
    """Copy a tensor to its place, gaps included."""
    place_of(memory, spec).copy_(flat(tensor))


def place_of(memory, spec):
    """A spec's part of a share's bytes as a vector, gaps included."""
    return memory[spec["offset"]:spec["offset"] + spec["bytes"]].view(
        getattr(torch, spec["dtype"]))


# Inputs: a list whose items are tensors, plain values, or lists of these.

def describe(item, layout, what):
    """The wire form of one input; tensors get a place in the layout."""
    if isinstance(item, torch.Tensor):
        return layout.add(item, what)
    if isinstance(item, (list, tuple)):
        return {"items": [describe(x, layout, "%s, item %d" % (what, i + 1))
                          for i, x in enumerate(item)]}
    if item is None:
        return {"none": True}  # a null would be lost where tables have no room for it
    if isinstance(item, (bool, int, str)) or (isinstance(item, float) and math.isfinite(item)):
        return {"value": item}
    raise Fault("task", "%s is %s; an input is a tensor, a finite number, a bool, a string,"
                " None, or a list of these" % (what, type(item).__name__))


def describe_all(inputs, layout, form):
    """The wire form of all inputs; those that have names in the task have them here."""
    specs = [describe(x, layout, "input %d" % (i + 1)) for i, x in enumerate(inputs)]
    name_all(specs, form.names, form.tree)
    return specs


def name_all(specs, names, tree):
    for i, (spec, node) in enumerate(zip(specs, tree)):
        if names:
            spec["name"] = names[i]
        if node and "of" in node:
            name_all(spec["items"], node.get("names"), node["of"])


def leaves(item, spec):
    """Pairs (tensor, spec) of one input, in order."""
    if isinstance(item, torch.Tensor):
        yield item, spec
    elif isinstance(item, (list, tuple)):
        for x, s in zip(item, spec["items"]):
            yield from leaves(x, s)


def shape_of(spec):
    """The parts of a spec that must not change from seed to seed: all but its values."""
    if "items" in spec:
        return [shape_of(s) for s in spec["items"]]
    if "value" in spec or "none" in spec:
        return "a value"
    return "%s %s, strides %s" % (spec["dtype"], json.dumps(spec["shape"]),
                                  json.dumps(spec["strides"]))


def values_of(spec):
    """The plain values of one input, in order."""
    if "items" in spec:
        return [v for s in spec["items"] for v in values_of(s)]
    return [spec.get("value")] if "value" in spec or "none" in spec else []


def mapped(item, change):
    """The same tree with `change` applied to its tensors."""
    if isinstance(item, torch.Tensor):
        return change(item)
    if isinstance(item, (list, tuple)):
        return type(item)(mapped(x, change) for x in item) \
            if type(item) in (list, tuple) else [mapped(x, change) for x in item]
    return item


def mapped_views(item, spec, memory):
    """The same tree over the places of its tensors in a share's bytes."""
    if isinstance(item, torch.Tensor):
        return view(memory, spec)
    if isinstance(item, (list, tuple)):
        parts = [mapped_views(x, s, memory) for x, s in zip(item, spec["items"])]
        return type(item)(parts) if type(item) in (list, tuple) else parts
    return item


def number(value):
    """A Python number as JSON takes it: None for NaN, "inf", "-inf"."""
    if isinstance(value, float):
        if math.isnan(value):
            return None
        if math.isinf(value):
            return "inf" if value > 0 else "-inf"
    return value
