"""A user's own baseline: a Python file with a class ModelNew (or Model) that is made
with the task's init inputs, has the task's weights and takes the task's inputs.
KernelBench's candidates have this form."""
import ast
import copy
import hashlib
import os
import sys
import types

import torch

from cawb_host.base.fault import Fault, blame
from cawb_host.judge.task.runner import made_on, seed_all
from cawb_host.judge.task.source import read
from cawb_host.base.forms import adapt

CLASSES = ("ModelNew", "Model")


def load(path):
    """The module of a file, executed once for each content."""
    raw = read(path)
    name = "cawb_baseline_" + hashlib.sha256(raw).hexdigest()[:16]
    if name not in sys.modules:
        module = types.ModuleType(name)
        module.__file__ = path
        folder = os.path.dirname(os.path.abspath(path))
        if folder not in sys.path:
            sys.path.append(folder)
        sys.modules[name] = module  # Triton reads the source of a function that it compiles
        try:
            with blame(path, "the baseline", 1):
                exec(compile(ast.parse(raw, filename=path), path, "exec"), module.__dict__)
        except BaseException:
            del sys.modules[name]
            raise
    return sys.modules[name]


def class_of(module, path):
    for name in CLASSES:
        if callable(getattr(module, name, None)):
            return getattr(module, name)
    raise Fault("task", "%s:1: a baseline defines the class %s" % (path, " or ".join(CLASSES)))


def make(work, path):
    """The rival's module on the task's device, with the task's weights: by name, or in their order
    where the names differ and shapes do not; else those that the same seed gives have to do."""
    runner, made = work.runner, class_of(load(path), path)
    with torch.no_grad(), made_on(work.device), blame(path, "the baseline", 1):
        values = runner.task.init_inputs()
        seed_all(runner.init_seed)
        module = made(**values) if isinstance(values, dict) else made(*values)
        module = module.to(work.device)
    state = {k: v for k, v in copy.deepcopy(runner.module.state_dict()).items() if hasattr(v, "shape")}
    own = {k: v for k, v in module.state_dict().items() if hasattr(v, "shape")}
    if set(own) != set(state) and [v.shape for v in own.values()] == [v.shape for v in state.values()]:
        state = dict(zip(own, state.values()))
    if {k: v.shape for k, v in own.items()} == {k: v.shape for k, v in state.items()}:
        module.load_state_dict(state, strict=False)
    return adapt(module, runner.task.form)
