#!/usr/bin/env python3
"""A suite of PyTorch tasks in float32, made one of 16-bit numbers: models and floating inputs are cast.

    cast.py SUITE.jsonl [--dtype bfloat16|float16] [--tasks LEVEL:ID,LEVEL:ID,...] > CAST.jsonl

A task that PyTorch cannot run in the type is left out, and stderr says why. Nothing is computed for it: tensors of the
device "meta" have types and shapes alone.
"""

import argparse
import json
import sys

import torch

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


UNTOLD = ("NVIDIA driver", "meta tensor")   # a task that names a GPU, or asks for a value, is tried by the judge alone


def fault(code: str) -> str | None:
    """Why PyTorch cannot run a task's code, or None."""
    scope = {"__name__": "task"}
    try:
        with torch.device("meta"), torch.no_grad():
            exec(compile(code, "task", "exec"), scope)  # a suite's code is trusted as the suite is
            scope["Model"](*scope["get_init_inputs"]())(*scope["get_inputs"]())
    except Exception as e:
        return "%s: %s" % (type(e).__name__, str(e).split("\n")[0][:200])
    return None


def codes(code: str, dtype: str) -> list[str]:
    """The ways to cast a task: by the type that PyTorch makes tensors of, then with the type's name replaced, where tensors name theirs."""
    tail = TAIL.format(dtype=dtype)
    return [code + tail, code.replace("torch.float32", "torch." + dtype) + tail]


def cast(task: dict, dtype: str) -> tuple[dict, str | None]:
    """The task in the type, and why PyTorch cannot run it, or None."""
    short = {"bfloat16": "bf16", "float16": "f16"}[dtype]
    for code in codes(task["code"], dtype):
        why = fault(code)
        if not why:
            break
    why = None if why and any(word in why for word in UNTOLD) else why
    return {**task, "name": task["name"].rstrip("_") + "_" + short, "code": code}, why


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suite")
    parser.add_argument("--dtype", choices=("bfloat16", "float16"), default="bfloat16")
    parser.add_argument("--tasks", help="only these, as LEVEL:ID, with commas between")
    given = parser.parse_args()
    chosen = set(given.tasks.split(",")) if given.tasks else None
    for line in open(given.suite):
        task = json.loads(line)
        if chosen and "%s:%s" % (task["level"], task["problem_id"]) not in chosen:
            continue
        made, why = cast(task, given.dtype)
        if why:
            print("left out: %s: %s" % (task["name"], why), file=sys.stderr)
        else:
            print(json.dumps(made))


if __name__ == "__main__":
    main()
