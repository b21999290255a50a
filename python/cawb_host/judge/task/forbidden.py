"""The things that a task forbids its candidates: a module-level list of texts,

    forbidden = ["any product", "torch.cumsum", "any library", "any atomics"]

An entry is an operator of PyTorch, or "any" and one of KINDS. Here the list is only read; the
rule task_forbids (lua/cawb/judge/rules) holds candidates against it.
"""
import difflib
import re

import torch

from cawb_host.torch import operators
from cawb_host.base.fault import Fault

NAME = "forbidden"
# Operators by class, as the rule python_work has them; then what the rule task_forbids looks for in a candidate's own kernels.
# tests/door/test_owners.lua holds these equal.
KINDS = ("product", "softmax", "normalization", "pooling", "scan", "order", "statistics", "loss", "resampling",
         "activation", "library", "atomics", "tensor core", "approximation", "inline PTX")
BENEATH = ("resolve_conj", "resolve_neg", "set", "to")       # of every copy
SPACES = ("linalg", "fft", "special")         # torch.linalg.norm is the operator linalg_norm
MOST, LONGEST = 64, 64


def executed():
    """Names of all that the dispatcher runs, without overloads."""
    return {name.split("::")[1].split(".")[0] for name in torch._C._dispatch_get_all_op_names()
            if name.startswith("aten::")}


def operator_of(entry):
    """torch.nn.functional.conv2d, aten::conv2d, F.conv2d, conv2d: conv2d."""
    parts = [part for part in re.split(r"::|\.", entry) if part]
    if len(parts) > 1 and parts[-2] in SPACES:
        return "_".join(parts[-2:])
    return parts[-1] if parts else ""


def read(module, names, path):
    """The list of a task's module, entries as the rule takes them; none where it has no such list."""
    if NAME not in names:
        return []
    given = getattr(module, NAME, None)
    if not isinstance(given, (list, tuple)) or not all(isinstance(entry, str) for entry in given):
        raise Fault("task", "%s: '%s' must be a list of texts, such as [\"any product\", \"torch.cumsum\"]" % (path, NAME))
    if len(given) > MOST or any(len(entry) > LONGEST for entry in given):
        raise Fault("task", "%s: '%s' takes at most %d entries of %d letters" % (path, NAME, MOST, LONGEST))
    known = executed() if given else ()
    return [checked(entry, known, path) for entry in given]


def checked(entry, known, path):
    if entry.startswith("any "):
        return kind(entry, path)
    name = operator_of(entry)
    if name not in known:
        raise Fault("task", "%s: '%s' in '%s' is no operator that PyTorch executes%s; a function that is made of others is"
                            " forbidden by naming them" % (path, entry, NAME, close(name, known)))
    if moves(name):
        raise Fault("task", "%s: '%s' in '%s' only moves elements, which the judge itself has PyTorch do: it cannot be"
                            " forbidden" % (path, entry, NAME))
    return name


def moves(name):
    """Whether it copies or shows elements as they are: the judge has PyTorch do that to take the outputs."""
    row = operators.find(name.rstrip("_"))
    return row.moves and row.kind in ("view", "pointwise") or row.name in BENEATH


def kind(entry, path):
    if entry[4:] not in KINDS:
        raise Fault("task", "%s: '%s' in '%s': after 'any' comes one of %s%s" % (
            path, entry, NAME, ", ".join(KINDS), close(entry[4:], KINDS)))
    return entry


def close(name, names):
    found = difflib.get_close_matches(name, names, 1)
    return " (did you mean '%s'?)" % found[0] if found else ""
