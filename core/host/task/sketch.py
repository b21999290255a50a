"""What a task would be: shapes and the op graph, of tensors without data. A task of any size
takes no memory and no time, so that sizes can be tried."""
import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from host.wire.fault import Fault, from_host
from host.graph.recorder import Recorder
from host.task.runner import seed_all, strict, tensors_of
from host.task.source import Task
from host.wire.tensors import Layout, describe, dtype_name, mapped


def sketch(path, overrides, seed):
    task = Task(path, overrides)
    strict()
    with FakeTensorMode(allow_non_fake_inputs=True), torch.no_grad():
        seed_all(seed)
        module, inputs = task.build(), mapped(task.make_inputs(), lambda t: t.detach())
        recorder = Recorder(module, inputs)
        with task.blame("Model.forward"), recorder:
            result = module(*inputs)
        return describe_all(task, module, inputs, list(tensors_of(result, "")), recorder)


def describe_all(task, module, inputs, outputs, recorder):
    """As the op `load` does, but for what takes data to know."""
    places, made, own = Layout(), Layout(), Layout()
    with task.located("get_inputs"):
        specs = [describe(x, places, "input %d" % (i + 1)) for i, x in enumerate(inputs)]
    with task.located("Model.forward"):
        results = [dict(made.add(tensor_of(t, i), "output %d" % (i + 1)), **named(name))
                   for i, (name, t) in enumerate(outputs)]
    state = [(n, t) for n, t in module.state_dict().items() if isinstance(t, torch.Tensor)]
    params = [dict(own.add(t, "parameter '%s'" % n), name=n, kind="parameter") for n, t in state]
    return {"task": {"name": task.name, "path": task.path, "class_doc": task.doc(),
                     "source_sha256": task.sha256, "constants": task.constants,
                     "forward_line": task.line("Model.forward")},
            "inputs": specs, "outputs": results, "params": params, "graph": recorder.entries,
            "sources": [recorder.source(t) for _, t in outputs],
            "memory": recorder.memory.describe([t for _, t in outputs]),
            "notes": recorder.notes, "bytes": places.size + made.size + own.size}


def tensor_of(value, index):
    if not isinstance(value, torch.Tensor):
        raise Fault("task", "output %d is %s, not a tensor" % (index + 1, type(value).__name__))
    dtype_name(value, "output %d" % (index + 1))
    return value


def named(name):
    return {"name": name} if name else {}


def attempt(path, overrides, seed):
    """The same; what stands in the way is a fault with a name: "task" where the sizes do not
    go together, "unsupported" where shapes follow from data."""
    try:
        return sketch(path, overrides, seed)
    except Fault:
        raise
    except Exception as error:  # pylint: disable=broad-except
        raise from_host(error) from None
