"""Source that is taken over from a library: a class with all that it names, as text that needs PyTorch alone.

Decorators, annotations and doc strings are left out, and what only a library's loading of weights or its
choice of an implementation needs. What cannot be taken over, such as an object of the library, is Refused.
"""
import ast
import builtins
import collections
import functools
import inspect
import itertools
import math
import textwrap
import types
import typing

import torch
import torch.nn.functional as F

from cawb_host.learn.arguments import Refused

SPACES = (("torch", torch), ("torch.nn", torch.nn), ("torch.nn.functional", F), ("math", math), ("functools", functools),
          ("itertools", itertools), ("collections", collections), ("typing", typing))
GIVEN = {"torch": torch, "nn": torch.nn, "F": F}               # imports of every task
KEPT = ("property", "staticmethod", "classmethod")             # decorators that make a kind of method
LEFT_OUT = ("extra_repr", "_init_weights")  # methods that do not compute
LINES = 160                                                    # of all that is taken over, at most
ACTIVATIONS = ("GELU()", "GELU(approximate='tanh')", "SiLU()", "ReLU()", "Tanh()", "Sigmoid()", "ReLU6()", "LeakyReLU()", "Mish()",
               "ELU()", "Softplus()", "Hardswish()", "Hardsigmoid()", "Identity()", "PReLU()", "SELU()", "LogSigmoid()")


class Plain(ast.NodeTransformer):
    """The statements of a definition that compute."""

    def plain(self, node):
        node.decorator_list = [d for d in node.decorator_list if isinstance(d, ast.Name) and d.id in KEPT]
        if isinstance(node.body[0], ast.Expr) and isinstance(node.body[0].value, ast.Constant):
            node.body = node.body[1:] or [ast.Pass()]
        self.generic_visit(node)
        return node

    def visit_FunctionDef(self, node):
        node.returns = None
        return self.plain(node)

    def visit_ClassDef(self, node):
        node.bases = [ast.parse("nn.Module", mode="eval").body if ast.unparse(b) == "GradientCheckpointingLayer" else b
                      for b in node.bases]
        node.body = [f for f in node.body if getattr(f, "name", "") not in LEFT_OUT]
        return self.plain(node)

    def visit_arg(self, node):
        node.annotation = None
        return node

    def visit_AnnAssign(self, node):
        if node.value is None:
            return ast.Pass()
        return self.generic_visit(ast.Assign(targets=[node.target], value=node.value))

    def visit_Call(self, node):
        """The choice among implementations of attention is made: the one in PyTorch's operators."""
        self.generic_visit(node)
        if ast.unparse(node.func) == "ALL_ATTENTION_FUNCTIONS.get_interface":
            return node.args[1]
        return node


def definition(what):
    """The tree of a class or a function, only with statements that compute."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(what)))
    except (OSError, TypeError, SyntaxError):
        raise Refused("its source cannot be read") from None
    return ast.fix_missing_locations(Plain().visit(tree))


def unfilled(tree):
    """Whether a tree makes tensors whose values nothing says."""
    return any(isinstance(n, ast.Call) and ast.unparse(n.func) in ("torch.empty", "torch.Tensor", "torch.FloatTensor",
                                                                  "torch.empty_like") for n in ast.walk(tree))


def of_package(what, package):
    return (getattr(what, "__module__", None) or "").split(".")[0] == package


class Inlined:
    """Definitions that a class needs, `texts` in an order in which they can be executed, and the modules that they are from."""

    def __init__(self, kind, package, keys=()):
        self.package, self.keys = package, keys     # keys: names of activations that its settings may choose
        self.texts, self.homes, self.under_way = {}, [], set()
        self.take(kind.__name__, kind)

    def take(self, name, what):
        if name in self.texts or what in self.under_way:
            return
        if name != what.__name__ or name == "Model":
            raise Refused("a second name of %s" % name)
        self.under_way.add(what)
        tree = definition(what)
        if unfilled(tree):
            raise Refused("parameters without values")
        space = vars(inspect.getmodule(what))
        for used in sorted({n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}):
            if used in space and used != name:
                self.need(used, space[used], tree)
        self.texts[name] = ast.unparse(tree)
        if what.__module__ not in self.homes:
            self.homes.append(what.__module__)
        if sum(text.count("\n") + 1 for text in self.texts.values()) > LINES:
            raise Refused("more than %d lines" % LINES)

    def need(self, name, value, tree):
        if GIVEN.get(name) is value or getattr(builtins, name, None) is value:
            return
        home = next((path for path, space in SPACES if getattr(space, name, self) is value), None)
        if home:
            self.texts[name] = "from %s import %s" % (home, name)
        elif isinstance(value, types.ModuleType) and any(value is space for _, space in SPACES):
            self.texts[name] = "import %s as %s" % (value.__name__, name)
        elif name == "ACT2FN":
            self.texts[name] = self.activations(value, tree)
        elif isinstance(value, (int, float, str)):
            self.texts[name] = "%s = %r" % (name, value)
        elif of_package(value, self.package) and (inspect.isfunction(value) or isinstance(value, type)
                                                  and issubclass(value, torch.nn.Module)):
            self.take(name, inspect.unwrap(value))
        else:
            raise Refused("it needs %s" % name)

    def activations(self, table, tree):
        """The table of activations, of those that settings or the text name."""
        named = {n.slice.value for n in ast.walk(tree) if isinstance(n, ast.Subscript) and isinstance(n.slice, ast.Constant)
                 and isinstance(n.slice.value, str)}
        rows = ["%r: %s" % (key, self.activation(table[key])) for key in sorted(named | set(self.keys)) if key in table]
        return "ACT2FN = {%s}" % ", ".join(rows)

    def activation(self, what):
        """The text that makes it: of torch.nn where one there does the same."""
        x = torch.linspace(-5, 5, 101)
        for text in ACTIVATIONS:
            with torch.no_grad():
                if torch.allclose(eval("torch.nn." + text)(x), what(x), rtol=1e-6, atol=1e-7):
                    return "nn." + text
        self.take(type(what).__name__, type(what))
        return "%s()" % type(what).__name__
