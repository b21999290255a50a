"""Runs a Model: strict float32, no gradients, the same start every time.

The module runs as it was constructed (training mode, as KernelBench has it).
Where a forward changes the module (running statistics, a counter, a hidden
state) or its inputs, every call gets a fresh copy of what it changes.
"""
import contextlib
import copy
import random
import sys

import torch

from host.wire.fault import Fault, kind_of
from host.wire.tensors import copied, mapped


def seed_all(seed):
    """What torch.manual_seed does, without the stack traces that it takes for devices
    that are not there: they cost a tenth of a millisecond."""
    torch.default_generator.manual_seed(seed)
    for generator in torch.cuda.default_generators:
        generator.manual_seed(seed)
    random.seed(seed)
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(seed % (1 << 32))


def strict():
    """Float32 means float32, and the same call gives the same bits."""
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.deterministic = True
    torch.backends.cudnn.benchmark = False


def made_on(device):
    """Where tensors that name no device are made."""
    return torch.device(device) if device.type == "cuda" else contextlib.nullcontext()


class Runner:
    def __init__(self, task, device, init_seed):
        self.task, self.device, self.init_seed = task, device, init_seed
        self.module = self.build()
        self.wide_module = None
        self.repeatable = True  # else float64 would draw other random numbers
        # What a forward changes; everything, until a probe says otherwise.
        self.changes_module = self.changes_inputs = self.changes_parameters = True

    def build(self):
        strict()
        seed_all(self.init_seed)
        with torch.no_grad(), made_on(self.device):
            model = self.task.build()
            with self.task.blame("Model.__init__"):
                return model.to(self.device)

    def inputs(self, seed):
        """The task's inputs for one seed, on the device, without gradients."""
        seed_all(seed)
        with torch.no_grad(), made_on(self.device):
            inputs = self.task.make_inputs()
        return mapped(inputs, lambda t: t.detach().to(self.device))

    def probe(self, inputs, seed, mode):
        """The first call, under a dispatch mode: it shows what a forward changes, these
        inputs perhaps, and what its outputs come from."""
        module, args = self.copy(), inputs
        parameters = list(module.parameters())
        before = fingerprint(module), versions(args), versions(parameters)
        recorder = mode(module, args)
        result = self.raw(module, args, seed, recorder)
        self.sources = [recorder.source(t) for _, t in tensors_of(result, "")
                        if isinstance(t, torch.Tensor)]
        self.memory = recorder.memory.describe([t for _, t in tensors_of(result, "")])
        outputs = self.named(result)
        self.changes_module = fingerprint(module) != before[0]
        self.changes_inputs = versions(args) != before[1]
        self.changes_parameters = versions(parameters) != before[2]
        return outputs

    def forward(self, inputs, seed, mode=None):
        """Outputs at the task's dtype: a list of (name, tensor); under a dispatch mode."""
        module = self.copy() if self.changes_module else self.module
        args = mapped(inputs, copied) if self.changes_inputs else inputs
        return self.call(module, args, seed, mode)

    def forward_wide(self, inputs, seed, mode=None):
        """The same in float64, or None where the task does not allow it."""
        if not self.repeatable:
            return None
        try:
            if self.wide_module is None or self.changes_module:
                self.wide_module = widened(self.copy())
            args = mapped(inputs, wide)
            args = mapped(args, copied) if self.changes_inputs else args
            outputs = self.call(self.wide_module, args, seed, mode, torch.float64)
        except Fault as fault:
            if fault.name in ("device", "memory"):
                raise
            self.wide_module = None
            return None
        lost = any(t.is_floating_point() and t.dtype != torch.float64 for _, t in outputs)
        return None if lost else outputs

    def follow(self, inputs, seed, mode):
        """What forward returns under a mode that makes its own of it: tensors in order."""
        module = self.copy() if self.changes_module else self.module
        args = mapped(inputs, copied) if self.changes_inputs else inputs
        return [t for _, t in tensors_of(self.raw(module, args, seed, mode), "")]

    def call(self, module, args, seed, mode=None, default=None):
        return self.named(self.raw(module, args, seed, mode, default))

    def raw(self, module, args, seed, mode=None, default=None):
        strict()
        seed_all(seed)
        usual = torch.get_default_dtype()
        torch.set_default_dtype(default or usual)
        try:
            with self.task.blame("Model.forward"), torch.no_grad(), made_on(self.device), \
                    mode or contextlib.nullcontext():
                return module(*args)
        finally:
            torch.set_default_dtype(usual)

    def named(self, result):
        """Outputs in order: of a tensor, or of a tuple, list or dict of tensors."""
        found = list(tensors_of(result, ""))
        for name, value in found:
            if not isinstance(value, torch.Tensor):
                raise self.task.fault("Model.forward", "forward returns %s%s; it must return a"
                                      " tensor, or a tuple, list or dict of tensors"
                                      % (type(value).__name__, " as " + name if name else ""))
        if not found:
            raise self.task.fault("Model.forward", "forward returns nothing to compare")
        return [(name, value.detach().contiguous()) for name, value in found]

    def copy(self):
        """A module that has not run yet. Parameters are shared where no forward
        writes to them; all else is new."""
        shared = [] if self.changes_parameters else self.module.parameters()
        memo = {id(p): p for p in shared}
        try:
            return copy.deepcopy(self.module, memo)
        except Exception as error:  # pylint: disable=broad-except
            if kind_of(error):
                raise
            return self.build()  # what cannot be copied is made again


def tensors_of(value, name):
    if isinstance(value, dict):
        for key, item in value.items():
            yield from tensors_of(item, "%s.%s" % (name, key) if name else str(key))
    elif isinstance(value, (tuple, list)):
        for i, item in enumerate(value):
            yield from tensors_of(item, "%s[%d]" % (name, i + 1))
    else:
        yield name, value


def wide(tensor):
    return tensor.to(torch.float64) if tensor.is_floating_point() else tensor


def widened(module):
    """The module in float64, tensors kept outside its parameters included."""
    module = copy.deepcopy(module).to(torch.float64)
    for part in module.modules():
        for name, value in list(vars(part).items()):
            if isinstance(value, torch.Tensor):
                setattr(part, name, wide(value))
    return module


def loose_tensors(module):
    """Names of tensors that are neither parameters nor buffers."""
    return [("%s.%s" % (path, name)).lstrip(".") for path, part in module.named_modules()
            for name, value in vars(part).items() if isinstance(value, torch.Tensor)]


def versions(args):
    found = []
    mapped(args, lambda t: found.append((id(t), t._version)))
    return found


def fingerprint(module):
    """Changes whenever a call leaves something behind in the module."""
    found = []
    for path, part in module.named_modules():
        for name, value in vars(part).items():
            if name in ("_parameters", "_buffers"):
                found += [(path, n, id(t), t._version) for n, t in value.items() if t is not None]
            elif isinstance(value, torch.Tensor):
                found.append((path, name, id(value), value._version))
            elif isinstance(value, (bool, int, float, str)):
                found.append((path, name, value))
            elif isinstance(value, (list, dict)) and not name.startswith("_"):
                found.append((path, name, repr_of(value)))
    return found


def repr_of(value):
    items = value.values() if isinstance(value, dict) else value
    return [(id(x), x._version) if isinstance(x, torch.Tensor) else id(x) for x in items]
