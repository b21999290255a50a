"""The arguments and results of forward, and their form for the judge.

The judge knows dense tensors of real numbers, plain values, and lists of these. A task may take
more: keywords, dicts, tuples, dataclasses, complex tensors, inputs with gradients; and return more:
these, numbers, None, or nothing at all where it writes into an input. A Form says how the one is
made of the other. It travels to a jailed worker, so that a candidate is called as the task is.

A complex tensor is one of real numbers with a last dimension of 2: real parts, imaginary parts.
"""
import collections
import contextlib
import dataclasses
import types

import torch

from cawb_host.base.fault import Fault

PLAIN = "a dense tensor, a finite number, a bool, a string, None, or a list, tuple, dict or dataclass of these"


# ---- trees

def parts(item):
    """(form, names or None, items) of a container; None for any other value."""
    if isinstance(item, dict):
        return "dict", list(item), list(item.values())
    if isinstance(item, tuple) and hasattr(item, "_fields"):
        return "record", list(item._fields), list(item)
    if isinstance(item, (list, tuple)):
        return ("tuple" if isinstance(item, tuple) else "list"), None, list(item)
    if dataclasses.is_dataclass(item) and not isinstance(item, type):
        names = [f.name for f in dataclasses.fields(item)]
        return "record", names, [getattr(item, name) for name in names]
    return None


def step(path, name, number):
    """A part's name in messages and results: `a.b[2]`."""
    if name is None:
        return "%s[%d]" % (path, number)
    return "%s.%s" % (path, name) if path else str(name)


def results(value, path="", dtype=None):
    """Pairs (name, tensor) of forward's results, in order. None is left out. A number is a tensor without dimensions, a float
    a tensor of `dtype`. Other values are returned unchanged."""
    found = parts(value)
    if found:
        _, names, items = found
        for i, item in enumerate(items):
            yield from results(item, step(path, names and names[i], i + 1), dtype)
    elif isinstance(value, (bool, int, float)):
        yield path, number(value, dtype)
    elif value is not None:
        yield path, real(value) if isinstance(value, torch.Tensor) else value


def number(value, dtype):
    if isinstance(value, float):
        return torch.tensor(value, dtype=dtype or torch.float32, device="cpu")
    if isinstance(value, int) and not -(1 << 63) <= value < 1 << 63:
        return value
    return torch.tensor(value, device="cpu")


def real(tensor):
    """The same memory as real numbers, where that can be."""
    if not tensor.is_complex() or tensor.layout != torch.strided:
        return tensor
    return torch.view_as_real(tensor.resolve_conj())


# ---- inputs

def dense(tensor, what):
    """Raises a Fault for a tensor that is no plain memory."""
    if tensor.layout != torch.strided or tensor.is_quantized or tensor.is_nested:
        kind = "quantized" if tensor.is_quantized else "nested" if tensor.is_nested \
            else "sparse (%s)" % str(tensor.layout)[6:]
        raise Fault("task", "%s is a %s tensor; the judge compares dense ones: pass, or return, the tensors"
                    " that it is made of (values, indices, scales, lengths)" % (what, kind))
    return tensor


class Form:
    """Of one task's inputs. `classes` are those of its records, by name."""

    def __init__(self, tree=(), names=None, grad=False, written=(), classes=None):
        self.tree, self.names, self.grad = list(tree), names, grad
        self.written, self.classes = list(written), classes or {}

    @classmethod
    def read(cls, about, classes=None):
        return cls(about["tree"], about["names"] or None, about["grad"], about["written"], classes)

    def describe(self):
        return {"tree": self.tree, "names": self.names or [], "grad": self.grad, "written": self.written}

    def is_plain(self):
        return not any(self.tree) and not self.names and not self.grad and not self.written

    def call(self, forward, module, args):
        """forward of the values that the judge's inputs stand for."""
        given = [self.made(item, node) for item, node in zip(args, self.tree)]
        with torch.enable_grad() if self.grad else contextlib.nullcontext():
            self.forget(module)
            result = forward(**dict(zip(self.names, given))) if self.names else forward(*given)
            result = [args[i] for i in self.written] if self.written and result is None else result
            self.forget(module)
        return result

    def forget(self, module):
        """Gradients of an earlier call would be added to."""
        for parameter in module.parameters() if self.grad else ():
            parameter.grad = None

    def made(self, item, node):
        if not node:
            return item
        if "of" not in node:
            item = torch.view_as_complex(item) if node.get("complex") else item
            return item.detach().requires_grad_() if node.get("grad") else item
        items = [self.made(x, n) for x, n in zip(item, node["of"])]
        if node["form"] == "record":
            return self.record(node["type"], dict(zip(node["names"], items)))
        return dict(zip(node["names"], items)) if node["form"] == "dict" \
            else tuple(items) if node["form"] == "tuple" else items

    def record(self, name, fields):
        """Of the file's own class, or of one that has the fields."""
        found = self.classes.get(name)
        if isinstance(found, type) and issubclass(found, tuple):
            return found(**fields)
        if found is None:
            return types.SimpleNamespace(**fields) if name.startswith("=") \
                else collections.namedtuple(name, fields)(**fields)
        made = object.__new__(found)                 # as it was, whatever its constructor does
        for field, value in fields.items():
            object.__setattr__(made, field, value)
        return made


def taken(inputs, grad):
    """The judge's inputs, from the values of get_inputs(), and their Form; `grad`: the task needs gradients."""
    classes = {}
    if isinstance(inputs, dict):
        names = [key_of(key, "get_inputs()") for key in inputs]
        items = list(inputs.values())
    else:
        names, items = None, list(inputs)
    found = [plain(item, "input %d" % (i + 1), grad, classes) for i, item in enumerate(items)]
    return [item for item, _ in found], Form([node for _, node in found], names, grad, (), classes)


def key_of(key, what):
    if not isinstance(key, str):
        raise Fault("task", "%s is a dict with the key %.60r: keys must be texts" % (what, key))
    return key


def plain(item, what, grad, classes):
    """One input as the judge has it, and how it is made of that (None: it is the same)."""
    if isinstance(item, torch.Tensor):
        dense(item, what)
        about = {"complex": True} if item.is_complex() else {}
        if grad and item.requires_grad:
            about["grad"] = True
        return real(item.detach()), about or None
    found = parts(item)
    if found is None:
        return item, None
    form, names, items = found
    made = [plain(x, "%s, item %s" % (what, names[i] if names else i + 1), grad, classes)
            for i, x in enumerate(items)]
    below = [node for _, node in made]
    if form == "list" and not any(below):
        return [x for x, _ in made], None
    about = {"form": form, "of": below}
    if names is not None:
        about["names"] = [key_of(name, what) for name in names]
    if form == "record":
        about["type"] = type(item).__name__ if isinstance(item, tuple) else "=" + type(item).__name__
        classes[about["type"]] = type(item)
    return [x for x, _ in made], about


# ---- modules

def state_of(module):
    """{name: tensor} of parameters and buffers as they lie in shares, in the memory of the module's."""
    return {name: real(tensor.detach()) for name, tensor in module.state_dict().items()
            if isinstance(tensor, torch.Tensor)}


class Adapted:
    """A module that takes the judge's inputs."""

    def forward(self, *args):
        return self.cawb_form.call(super().forward, self, args)


def adapt(module, form):
    """Have a module take the judge's inputs from here on. Its names of weights stay."""
    if not form.is_plain() and not isinstance(module, Adapted):
        kind = type(module)
        module.__class__ = type(kind.__name__, (Adapted, kind), {
            "__module__": kind.__module__, "__doc__": kind.__doc__, "cawb_form": form})
    return module


def own_forward(module):
    """The function that the file has as forward."""
    kinds = [kind for kind in type(module).__mro__ if not issubclass(kind, Adapted)]
    return kinds[0].forward if isinstance(module, Adapted) else type(module).forward
