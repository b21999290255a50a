"""A user's task file: its source, its constants with overrides, its Model.

Overrides act on the syntax tree: right behind every module-level assignment
of NAME the literal is assigned, so what is computed from NAME afterwards sees
the new value.
"""
import ast
import contextlib
import difflib
import functools
import hashlib
import inspect
import math
import os
import sys
import types

import torch

from cawb_host.judge.task import forbidden
from cawb_host.judge.task import judged_at
from cawb_host.judge.task import plain
from cawb_host.judge.task.reseeded import reseeded
from cawb_host.base import forms
from cawb_host.base.elsewhere import Elsewhere
from cawb_host.base.fault import Fault, blame

NEEDED = ("Model", "get_inputs")
OURS = "cawb_task_"                # before a module's name


def forget():
    """The modules of files go, with what they hold, when no task of theirs is loaded."""
    for name in [name for name in sys.modules if name.startswith(OURS)]:
        del sys.modules[name]


class Task:
    """A loaded file. Everything that runs the user's code goes through
    `blame`, and so ends as a value or as a Fault naming file and line."""

    def __init__(self, path, overrides):
        self.path = path
        self.name = os.path.splitext(os.path.basename(path))[0]
        raw = read(path)
        self.sha256 = hashlib.sha256(raw).hexdigest()
        with blame(path, "the file", 1):
            tree = ast.parse(raw, filename=path)
        self.lines = definitions(tree)
        names = assigned(tree)
        override(tree, overrides, names, path)
        if plain.is_plain(tree, names):
            plain.complete(tree, path)
        self.tree, self.names_gpu = tree, b"cuda" in raw
        self.init_values = None
        self.form, self.reseeds = None, False       # of its inputs; whether get_inputs() seeds by itself
        self.grad = (b"backward" in raw or b"autograd" in raw) and needs_gradients(tree)
        self.module = self.execute(tree)
        self.constants = simple_constants(self.module, names)
        self.forbidden = forbidden.read(self.module, names, path)
        self.judged_at = judged_at.read(self.module, names, self.constants, path)
        for name in NEEDED:
            if not callable(getattr(self.module, name, None)):
                raise Fault("task", "%s:1: no %s in the file (a task defines the class Model"
                            " and the functions get_inputs and get_init_inputs; or a function"
                            " `op` and `examples`, a list of its inputs)" % (path, name))

    @functools.cached_property
    def source(self):
        """The text as it runs, for a process that has no file. It takes a second for a large file, and sketches do without."""
        return ast.unparse(self.tree)

    def execute(self, tree):
        module = types.ModuleType(OURS + self.name)
        module.__file__ = self.path
        folder = os.path.dirname(os.path.abspath(self.path))
        if folder not in sys.path:
            sys.path.append(folder)
        sys.modules[module.__name__] = module  # torch.compile and inspect look there
        with blame(self.path, "the file", 1):
            exec(compile(tree, self.path, "exec", dont_inherit=True), module.__dict__)
        return module

    def line(self, stage):
        return self.lines.get(stage) or self.lines.get(stage.split(".")[0]) or 1

    def blame(self, stage):
        return blame(self.path, stage, self.line(stage))

    def fault(self, stage, message):
        return Fault("task", "%s:%d: %s" % (self.path, self.line(stage), message))

    @contextlib.contextmanager
    def located(self, stage):
        """Gives a Fault from inside the file and line of the call that made the value."""
        try:
            yield
        except Fault as fault:
            raise self.fault(stage, fault.message) from None

    def doc(self):
        text = vars(self.module.Model).get("__doc__") \
            if isinstance(self.module.Model, type) else None
        return inspect.cleandoc(text) if text else None

    def init_inputs(self):
        """What get_init_inputs() returns, once: it may draw numbers."""
        if self.init_values is None:
            get = getattr(self.module, "get_init_inputs", list)
            with self.blame("get_init_inputs"):
                self.init_values = get()
        return self.init_values

    def build(self, ready=None):
        """Model(*get_init_inputs()); a dict of init inputs means keywords. `ready` is called
        between the two."""
        values = self.init_inputs()
        if ready:
            ready()
        if not isinstance(values, (list, tuple, dict)):
            raise self.fault("get_init_inputs", "get_init_inputs() returns %s; it must return a"
                             " list (or a dict of keyword arguments)" % type(values).__name__)
        with self.blame("Model.__init__"):
            model = self.module.Model(**values) if isinstance(values, dict) \
                else self.module.Model(*values)
        if not isinstance(model, torch.nn.Module):
            raise self.fault("Model", "Model is not a torch.nn.Module")
        return model

    def make_inputs(self, secret=None):
        """What get_inputs() returns, as the judge has it; `secret` is mixed into seeds of its own."""
        with self.blame("get_inputs"), reseeded(secret, self) as own:
            inputs = self.module.get_inputs()
        self.reseeds = self.reseeds or bool(own and own.used)
        if not isinstance(inputs, (list, tuple, dict)):
            raise self.fault("get_inputs", "get_inputs() returns %s; it must return a list"
                             " (or a dict of keyword arguments)" % type(inputs).__name__)
        with self.located("get_inputs"):
            inputs, form = forms.taken(inputs, self.grad)
        if self.form is None:
            self.form = form
        elif (form.tree, form.names) != (self.form.tree, self.form.names):
            raise self.fault("get_inputs", "the lists, dicts and types that get_inputs() returns differ"
                             " from call to call; they must not depend on the seed")
        return inputs

    def elsewhere(self, device):
        """A context in which a file that was written for a GPU runs where there is none."""
        return Elsewhere(device) if device.type == "cpu" and self.names_gpu else contextlib.nullcontext()


def read(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise Fault("task", "%s: %s" % (path, error.strerror or error)) from None


def definitions(tree):
    """Line numbers of the module's functions, classes and Model's methods."""
    lines = {}
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            lines[node.name] = node.lineno
        if isinstance(node, ast.ClassDef):
            lines.update(("%s.%s" % (node.name, f.name), f.lineno)
                         for f in node.body if isinstance(f, ast.FunctionDef))
    return lines


def needs_gradients(tree):
    """Whether the file computes gradients."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and (
                node.attr == "backward" or node.attr == "grad" and "autograd" in ast.unparse(node.value)):
            return True
        if isinstance(node, ast.ImportFrom) and node.module == "torch.autograd" and \
                any(alias.name in ("grad", "backward") for alias in node.names):
            return True
    return False


# Overrides

def assigned(tree):
    """Names that the module assigns at its own level, in order, each once."""
    found = {}
    for node in module_level(tree):
        found.update(dict.fromkeys(bound(node)))
    return list(found)


def module_level(node):
    """Statements outside functions and classes."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            continue
        if isinstance(child, ast.stmt):
            yield child
        yield from module_level(child)


def bound(node):
    """Names that an assignment statement binds."""
    if isinstance(node, ast.Assign):
        targets = node.targets
    elif isinstance(node, ast.AugAssign) or (isinstance(node, ast.AnnAssign) and node.value):
        targets = [node.target]
    else:
        return []
    return [n.id for t in targets for n in ast.walk(t)
            if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]


def override(tree, overrides, names, path):
    for name in overrides:
        if name not in names:
            close = difflib.get_close_matches(name, names, 1)
            raise Fault("task", "%s: no module-level constant '%s' to override%s; it has %s" % (
                path, name, " (did you mean '%s'?)" % close[0] if close else "",
                ", ".join(names) or "none"))
    insert_literals(tree, overrides)


def insert_literals(node, overrides):
    for field in ("body", "orelse", "finalbody", "handlers"):
        statements = getattr(node, field, None)
        if not isinstance(statements, list):
            continue
        result = []
        for statement in statements:
            if not isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                insert_literals(statement, overrides)
            result.append(statement)
            result.extend(literal(name, overrides[name], statement)
                          for name in bound(statement) if name in overrides)
        setattr(node, field, result)


def literal(name, value, statement):
    """`name = value`, to follow this assignment."""
    if isinstance(value, list) and isinstance(getattr(statement, "value", None), ast.Tuple):
        value = tuple(value)  # JSON has no tuples; the task may add to this one
    return ast.parse("%s = %r" % (name, value)).body[0]


# Constants

def simple_constants(module, names):
    values = {name: getattr(module, name, None) for name in names if hasattr(module, name)}
    return {name: value for name, value in values.items() if simple(value)}


def simple(value):
    if isinstance(value, (list, tuple)):
        return all(simple(x) for x in value)
    return isinstance(value, (bool, int, str)) or (
        isinstance(value, float) and math.isfinite(value))
