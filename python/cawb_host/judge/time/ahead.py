"""torch.compile's work without data, done ahead of its first call: tracing, lowering and building for the shapes of a task,
on tensors without data. The result stays in Inductor's own cache, under the graph. The baseline that is timed later compiles
as usual, and finds it there.

Nothing is computed on the GPU, because somebody else measures on it meanwhile. Inductor's trials of which variant is faster
there are left to the baseline. max-autotune consists of such trials: they wait for the GPU's lock, which every measurement
holds; the work between them needs no lock.
"""
import contextlib
import fcntl
import functools

import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from cawb_host.judge.time.baseline import COMPILE, TF32, as_used
from cawb_host.judge.task.runner import made_on, seed_all
from cawb_host.judge.task.sketch import built
from cawb_host.judge.task.source import Task
from cawb_host.base.fault import one_line
from cawb_host.base.forms import adapt
from cawb_host.base.tensors import mapped


class Tries(Exception):
    """Inductor wants to measure something."""


def compile_ahead(path, overrides, seed, device, kinds=("compile",), lock=None):
    """Why it was not done, or None. Of `kinds` those that try things out need the `lock`, a path."""
    whys = [attempt(path, overrides, seed, device, kind, lock) for kind in kinds]
    return next((why for why in whys if why), None)


def attempt(path, overrides, seed, device, kind, lock):
    try:
        compiled(Task(path, overrides), seed, device, kind, lock)
        return None
    except Exception as error:  # pylint: disable=broad-except
        return one_line("%s: %s" % (type(error).__name__, error))
    finally:
        torch._dynamo.reset()      # it has seen tensors without data


def compiled(task, seed, device, kind, lock):
    from torch._inductor import list_mode_options
    from torch._inductor.compile_fx import compile_fx
    mode = COMPILE[kind.removesuffix(TF32)]
    how = {"config_patches": list_mode_options(mode)} if mode else {}
    fake = FakeTensorMode(allow_non_fake_inputs=True)
    with fake, torch.no_grad(), made_on(device), task.elsewhere(device):
        seed_all(seed)
        module, inputs = built(task), mapped(task.make_inputs(), lambda t: t.detach())
        module = adapt(module, task.form)

    def keep(graph, examples):
        """Builds a graph, and then follows it without data: the code behind a graph break comes next."""
        compile_fx(graph, examples, **how)
        return graph.forward
    torch._dynamo.reset()
    with fake, as_used(kind), tried(Turn(lock)) if mode and lock else untried():
        torch.compile(module, backend=keep)(*inputs)


class Turn:
    """The GPU to oneself while a time is taken, with data. Who has it may ask again."""

    def __init__(self, lock):
        self.lock, self.held = lock, contextlib.ExitStack()
        self.depth = 0

    def __enter__(self):
        from torch._subclasses.fake_tensor import unset_fake_temporarily
        self.depth += 1
        if self.depth == 1:
            file = self.held.enter_context(open(self.lock, "ab"))
            fcntl.flock(file, fcntl.LOCK_EX)
            self.held.callback(self.leave)
            self.held.enter_context(unset_fake_temporarily())

    def __exit__(self, *_error):
        self.depth -= 1
        if self.depth == 0:
            self.held.close()

    @staticmethod
    def leave():
        if torch.cuda.is_initialized():
            torch.cuda.synchronize()
            torch.cuda.empty_cache()


@contextlib.contextmanager
def replaced(ways, by):
    """Replaces each (owner, name) in `ways` by the result of `by`."""
    with contextlib.ExitStack() as stack:
        for owner, name in ways:
            stack.callback(functools.partial(setattr, owner, name, vars(owner)[name]))
            setattr(owner, name, by(vars(owner)[name]))
        yield


def benchmarks():
    from torch._inductor.runtime import benchmarking
    return [(kind, name) for kind in type(benchmarking.benchmarker).__mro__[:-1] for name in vars(kind)
            if name.startswith("benchmark")]


def paddings():
    """It makes matrices of numbers first."""
    from torch._inductor.fx_passes import pad_mm
    return [(pad_mm, "get_do_bench")] if hasattr(pad_mm, "get_do_bench") else []


def no(*_args, **_kwargs):
    raise Tries("Inductor wants to take a time")


def untried():
    """Inductor's ways to take times raise."""
    return replaced(benchmarks() + paddings(), lambda _way: no)


@contextlib.contextmanager
def tried(turn):
    """Inductor takes its times in turn: of all ways to compute a product, which makes the operands, and of each alone."""
    from torch._inductor.select_algorithm import AlgorithmSelectorCache

    def alone(way):
        function = getattr(way, "__func__", way)

        @functools.wraps(function)
        def measured(*args, **kwargs):
            with turn:
                return function(*args, **kwargs)
        return classmethod(measured) if isinstance(way, classmethod) else measured
    ways = benchmarks() + [(AlgorithmSelectorCache, name) for name in ("benchmark_in_current_process",)
                           if name in vars(AlgorithmSelectorCache)]
    with replaced(ways, alone), replaced(paddings(), lambda _way: no):
        yield
