"""What torch.compile does before it has data, done ahead of its first call: tracing, lowering and building for the
shapes of a task, on tensors without data. What it makes stays in Inductor's own cache, by what the graph is: the baseline
that is timed later compiles as ever, and finds it there. Nothing is computed on the GPU, which somebody else measures on
meanwhile: where Inductor would try out there which of two ways is faster, it is left to the baseline.
"""
import contextlib
import functools

import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from host.baselines.baseline import as_used
from host.task.runner import made_on, seed_all
from host.task.sketch import built
from host.task.source import Task
from host.wire.fault import one_line
from host.wire.forms import adapt
from host.wire.tensors import mapped


class Tries(Exception):
    """Inductor wants to measure something."""


def compile_ahead(path, overrides, seed, device):
    """Why it was not done, or None."""
    try:
        compiled(Task(path, overrides), seed, device)
        return None
    except Exception as error:  # pylint: disable=broad-except
        return one_line("%s: %s" % (type(error).__name__, error))
    finally:
        torch._dynamo.reset()      # it has seen tensors without data


def compiled(task, seed, device):
    from torch._inductor.compile_fx import compile_fx
    fake = FakeTensorMode(allow_non_fake_inputs=True)
    with fake, torch.no_grad(), made_on(device), task.elsewhere(device):
        seed_all(seed)
        module, inputs = built(task), mapped(task.make_inputs(), lambda t: t.detach())
        module = adapt(module, task.form)

    def keep(graph, examples):
        """A graph is built, and then followed without data: what is behind a graph break comes next."""
        compile_fx(graph, examples)
        return graph.forward
    torch._dynamo.reset()
    with fake, as_used("compile"), untried():
        torch.compile(module, backend=keep)(*inputs)


@contextlib.contextmanager
def untried():
    """Inductor's ways to take times raise."""
    from torch._inductor.fx_passes import pad_mm
    from torch._inductor.runtime import benchmarking

    def no(*_args, **_kwargs):
        raise Tries("Inductor wants to take a time")
    ways = [(kind, name) for kind in type(benchmarking.benchmarker).__mro__[:-1] for name in vars(kind)
            if name.startswith("benchmark")]
    if hasattr(pad_mm, "get_do_bench"):        # it makes matrices of numbers first
        ways.append((pad_mm, "get_do_bench"))
    with contextlib.ExitStack() as stack:
        for owner, name in ways:
            stack.callback(functools.partial(setattr, owner, name, vars(owner)[name]))
            setattr(owner, name, no)
        yield
