#!/usr/bin/env python3
"""A suite of PyTorch tasks in float32, made one of 16-bit numbers: models and floating inputs are cast.

    cast.py SUITE.jsonl [--dtype bfloat16|float16] [--tasks LEVEL:ID,LEVEL:ID,...] [--every N] > CAST.jsonl

A task that PyTorch cannot run in the type is left out, and stderr says why. Nothing is computed for it: tensors of the
device "meta" have types and shapes alone. --every N draws every N-th task of those that ran on these, the first among them.
"""

import argparse
import json
import pathlib
import re
import sys

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))
from cawb_host.torch import operators  # noqa: E402

# The class keeps its name and its identity: its methods may say super(Model, self). Parameters are made in the type and not cast, since
# a task's sizes are fitted by fake tensors, whose parameters cannot be cast.
TAIL = '''

_init32, _inputs32 = Model.__init__, get_inputs
def _init16(self, *args, **kwargs):
    torch.set_default_dtype(torch.{dtype})
    try:
        _init32(self, *args, **kwargs)
    finally:
        torch.set_default_dtype(torch.float32)
Model.__init__ = _init16
def get_inputs():
    return [x.to(torch.{dtype}) if torch.is_tensor(x) and x.is_floating_point() else x for x in _inputs32()]
'''


UNTOLD = ("NVIDIA driver", "meta tensor", "device meta")   # a task that names a GPU, or asks for a value, is tried by the judge alone
LEFT = "some of its weights or inputs are float32 still"


class OneType(TorchDispatchMode):
    """Products of operands of several types raise, as they do where there are data; tensors of the device "meta" let them pass."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        operands = {x.dtype for x in tree_leaves((args, kwargs)) if torch.is_tensor(x)}
        row = operators.of(func)
        if row.products and row.factors and len(operands) > 1:
            raise TypeError("%s has operands of the types %s" % (func, ", ".join(sorted(map(str, operands)))))
        return func(*args, **(kwargs or {}))


def is_open(why: str | None) -> bool:
    """Whether the task may be sound though a fault is named."""
    return why == LEFT or any(word in (why or "") for word in UNTOLD)


def rank(why: str | None) -> int:
    """Which of two ways to cast is better."""
    return 0 if why is None else 1 if why == LEFT else 2 if is_open(why) else 3


def fault(code: str) -> str | None:
    """Why PyTorch cannot run a task's code, or what is left of float32 in it, or None."""
    scope = {"__name__": "task"}
    try:
        with torch.device("meta"), torch.no_grad(), OneType():
            exec(compile(code, "task", "exec"), scope)  # a suite's code is trusted as the suite is
            model, inputs = scope["Model"](*scope["get_init_inputs"]()), scope["get_inputs"]()
            given = [*model.parameters(), *model.buffers(), *inputs]
            left = any(torch.is_tensor(x) and x.dtype == torch.float32 for x in given)
            model(*inputs)
    except Exception as e:
        return "%s: %s" % (type(e).__name__, str(e).split("\n")[0][:200])
    return LEFT if left else None


def renamed(code: str, dtype: str) -> str:
    """The type's name replaced, and float32's lowest number, which masks are filled with, by the type's."""
    lowest = repr(torch.finfo(getattr(torch, dtype)).min)
    return re.sub(r"-3\.4028234663852886e\+?38", lowest, code.replace("torch.float32", "torch." + dtype))


def codes(code: str, dtype: str) -> list[str]:
    """The ways to cast a task, the one first that changes least: by the type that PyTorch makes tensors of; with the type's name replaced in
    tables of weights, which stand outside of functions, so that a float32 part of the computation stays one; with the name replaced everywhere."""
    tables = re.sub(r"(?m)^\S.*", lambda line: renamed(line[0], dtype), code)
    return [each + TAIL.format(dtype=dtype) for each in dict.fromkeys((code, tables, renamed(code, dtype)))]


def cast(task: dict, dtype: str) -> tuple[dict, str | None]:
    """The task in the type, and why PyTorch cannot run it, or what is open about it, or None."""
    short = {"bfloat16": "bf16", "float16": "f16"}[dtype]
    tried = [(fault(code), code) for code in codes(task["code"], dtype)]
    least = min(rank(why) for why, _ in tried)
    why, code = [pair for pair in tried if rank(pair[0]) == least][0 if least == 0 else -1]
    return {**task, "name": task["name"].rstrip("_") + "_" + short, "code": code}, why


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suite")
    parser.add_argument("--dtype", choices=("bfloat16", "float16"), default="bfloat16")
    parser.add_argument("--tasks", help="only these, as LEVEL:ID, with commas between")
    parser.add_argument("--every", type=int, default=1)
    given = parser.parse_args()
    chosen, sound = set(given.tasks.split(",")) if given.tasks else None, 0
    for line in open(given.suite):
        task = json.loads(line)
        if chosen and "%s:%s" % (task["level"], task["problem_id"]) not in chosen:
            continue
        made, why = cast(task, given.dtype)
        if why:
            print("%s: %s: %s" % ("open" if is_open(why) else "left out", task["name"], why), file=sys.stderr)
        if sound % given.every == 0 and (why is None or given.every == 1 and is_open(why)):
            print(json.dumps(made))
        sound += why is None


if __name__ == "__main__":
    main()
