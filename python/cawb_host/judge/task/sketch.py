"""A sketch of a task: its shapes and op graph, from tensors without data. A task of any size takes no memory and
no time, so that sizes can be tried."""
from unittest import mock

import torch
from torch._subclasses.fake_tensor import DataDependentOutputException, FakeTensorMode, unset_fake_temporarily

from cawb_host.base.fault import Fault, from_host
from cawb_host.torch.recorder import Recorder
from cawb_host.judge.task.runner import check_weights, is_lazy, made_on, seed_all, strict, versions
from cawb_host.judge.task.source import Task
from cawb_host.base.forms import adapt, dense, results, state_of
from cawb_host.base.tensors import Layout, dtype_name, judged, mapped
from cawb_host.base.tensors import describe_all as describe_all_inputs


def sketch(path, overrides, seed, device):
    task = Task(path, overrides)
    strict()
    shapes = FakeTensorMode(allow_non_fake_inputs=True)
    shapes.cache_enabled = False      # of sizes that are seen once; it would keep them all
    with shapes, torch.no_grad(), made_on(device):
        seed_all(seed)
        with task.elsewhere(device):
            module, inputs = built(task), mapped(task.make_inputs(), lambda t: t.detach())
            adapt(module, task.form)
            check_weights(task, module)
            if is_lazy(module):
                with task.blame("Model.forward"):
                    module(*inputs)
            recorder, before = Recorder(module, inputs), versions(inputs)
            with task.blame("Model.forward"), recorder:
                result = module(*inputs)
        if result is None:
            result = [t for t in inputs if isinstance(t, torch.Tensor) and (id(t), t._version) not in before]
        return describe_all(task, module, inputs, list(results(result)), recorder)


def built(task):
    """The module: without data, unless its constructor asks what numbers a tensor has, as of torch.linspace."""
    try:
        with mock.patch("torch.utils.swap_tensors", cast):
            return task.build()
    except Fault as fault:
        if DataDependentOutputException.__name__ not in fault.message:
            raise
    with unset_fake_temporarily():
        return task.build()


def cast(param, other):
    """In place of a swap, by which a module that casts itself has fake parameters cast: PyTorch refuses it where one was filled."""
    param.data = other.data


def describe_all(task, module, inputs, outputs, recorder):
    """As the op `load` does, without facts that need data."""
    places, made, own = Layout(), Layout(), Layout()
    with task.located("get_inputs"):
        specs = describe_all_inputs(inputs, places, task.form)
    with task.located("Model.forward"):
        results = [dict(made.add(tensor_of(t, i), "output %d" % (i + 1)), **named(name))
                   for i, (name, t) in enumerate(outputs)]
    state = state_of(module).items()
    params = [dict(own.add(t, "parameter '%s'" % n), name=n, kind="parameter") for n, t in state]
    return {"task": {"name": task.name, "path": task.path, "class_doc": task.doc(),
                     "source_sha256": task.sha256, "constants": task.constants, "forbidden": task.forbidden, "judged_at": task.judged_at,
                     "forward_line": task.line("Model.forward")},
            "inputs": specs, "outputs": results, "params": params, "graph": recorder.entries,
            "sources": [recorder.source(t) for _, t in outputs],
            "memory": recorder.memory.describe([t for _, t in outputs]),
            "notes": recorder.notes, "bytes": places.size + made.size + own.size}


def tensor_of(value, index):
    if not isinstance(value, torch.Tensor):
        raise Fault("task", "output %d is %s, not a tensor" % (index + 1, type(value).__name__))
    dtype_name(dense(value, "output %d" % (index + 1)), "output %d" % (index + 1))
    return judged(value, "output %d" % (index + 1))[0]


def named(name):
    return {"name": name} if name else {}


def attempt(path, overrides, seed, device=torch.device("cpu")):
    """The same; a failure is a fault with a name: "task" if the sizes do not go together, "unsupported" if shapes
    follow from data."""
    try:
        return sketch(path, overrides, seed, device)
    except Fault:
        raise
    except Exception as error:  # pylint: disable=broad-except
        raise from_host(error) from None
