"""Overrides that make tasks small: python3 fit.py LIST BYTES FLOPS.

LIST is a file of JSON Lines with "key" and "path". For each a line is printed:
{"key", "overrides"} or {"key", "failed"}. Module-level whole numbers are halved, the largest
first, as long as the task still works and costs less; on the meta device, where
nothing is computed and nothing allocated.
"""
import json
import os
import signal
import sys
import warnings

import torch
from torch.utils.flop_counter import FlopCounterMode

from task import Task

SECONDS = 60            # for one task


class Late(Exception):
    pass


def leaves(value):
    """The tensors in what a model takes or returns."""
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return [leaf for item in value for leaf in leaves(item)]
    return []


def cost(path, overrides):
    """(bytes of all tensors, floating-point operations of products)."""
    task = Task(path, overrides)
    with torch.device("meta"), torch.no_grad():
        inputs = [x.to("meta") if isinstance(x, torch.Tensor) else x for x in task.make_inputs()]
        model = task.build().to("meta")
        with FlopCounterMode(display=False) as counter:
            outputs = model(*inputs)
    tensors = leaves(inputs) + leaves(outputs) + list(model.parameters()) + list(model.buffers())
    return sum(t.numel() * t.element_size() for t in tensors), counter.get_total_flops()


def try_cost(path, overrides):
    try:
        return cost(path, overrides)
    except Late:
        raise
    except Exception:           # whatever a task does with sizes that it was not written for
        return None


def scalable(constants):
    """(name, index or None) of every whole number above 1."""
    for name, value in constants.items():
        if type(value) is int and value > 1:
            yield name, None
        elif isinstance(value, (list, tuple)):
            for index, item in enumerate(value):
                if type(item) is int and item > 1:
                    yield name, index


def get(values, place):
    return values[place[0]] if place[1] is None else values[place[0]][place[1]]


def put(values, place, number):
    result = dict(values)
    if place[1] is None:
        result[place[0]] = number
    else:
        result[place[0]] = list(result[place[0]])
        result[place[0]][place[1]] = number
    return result


def excess(found, most):
    """How many times too much it is; 1 or less fits."""
    return max(value / limit for value, limit in zip(found, most))


def fit(path, most):
    try:
        constants = Task(path, {}).constants
    except Exception:           # its run will say what is wrong with it
        return {}
    values, places = dict(constants), list(scalable(constants))
    found = cost(path, {})
    while excess(found, most) > 1 and places:
        place = max(places, key=lambda p: get(values, p))
        smaller = put(values, place, (get(values, place) + 1) // 2)
        changed = {k: v for k, v in smaller.items() if v != constants[k]}
        less = try_cost(path, changed)
        if less is not None and excess(less, most) < excess(found, most) and get(smaller, place) > 1:
            values, found = smaller, less
        else:
            places.remove(place)
    if excess(found, most) > 1:
        raise ValueError("it takes %d bytes and %d operations at its smallest" % found)
    return {k: list(v) if isinstance(v, tuple) else v for k, v in values.items() if v != constants[k]}


def late(*_):
    raise Late("it took longer than %d s" % SECONDS)


def main(path, most):
    warnings.simplefilter("ignore")
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)               # what tasks print
    signal.signal(signal.SIGALRM, late)
    with open(path) as file:
        for line in file:
            entry = json.loads(line)
            reply = {"key": entry["key"]}
            signal.alarm(SECONDS)
            try:
                reply["overrides"] = fit(entry["path"], most)
            except Exception as error:
                reply["failed"] = "%s" % error or type(error).__name__
            signal.alarm(0)
            out.write(json.dumps(reply) + "\n")
            out.flush()


if __name__ == "__main__":
    main(sys.argv[1], (int(sys.argv[2]), int(sys.argv[3])))
