"""Runs a Model: strict float32, no gradients, the same start every time.

The module runs as it was constructed (training mode, as KernelBench has it).
A forward may change the module (running statistics, a counter, a hidden
state) or its inputs. Then every call gets a fresh copy of these.
"""
import contextlib
import copy
import random
import re
import sys

import torch

from cawb_host.base.fault import Fault, kind_of
from cawb_host.judge.task import own_type
from cawb_host.judge.task.taps import Taps
from cawb_host.judge.task.vary import varied
from cawb_host.judge.task.wide import Both, Wide, widened
from cawb_host.base.forms import adapt, dense, results
from cawb_host.base.tensors import copied, mapped, wide


FEW_WEIGHTS = 1 << 20    # elements


def seed_all(seed):
    """torch.manual_seed without the stack traces that it takes for missing devices: they cost a tenth of a
    millisecond."""
    torch.default_generator.manual_seed(seed)
    for generator in torch.cuda.default_generators:
        generator.manual_seed(seed)
    random.seed(seed)
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(seed % (1 << 32))


def strict(deterministic=True):
    """Float32 means float32, and the same call gives the same bits."""
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.deterministic = deterministic
    torch.backends.cudnn.benchmark = False
    whole_attention(False)


def whole_attention(allowed):
    """Whether MultiheadAttention and TransformerEncoderLayer may be one operator in eval(). They are not under a mode, and both ways round
    differently: the same call would give other bits."""
    if hasattr(torch.backends, "mha"):
        torch.backends.mha.set_fastpath_enabled(allowed)


def made_on(device):
    """Where tensors that name no device are made."""
    return torch.device(device) if device.type == "cuda" else contextlib.nullcontext()


class Runner:
    def __init__(self, task, device, init_seed):
        self.task, self.device, self.init_seed = task, device, init_seed
        self.weights = None     # how they are varied: see vary()
        self.module = self.build()
        self.wide_module = self.near_module = None
        self.own_type = torch.float32       # of the task's numbers; see own_type.py
        self.repeatable = True  # else float64 would draw other random numbers
        # Whether cuDNN may choose among all of its algorithms: of transposed convolutions the repeatable ones may take
        # fifteen times as long. Where the others do not repeat themselves study.py takes that back.
        self.free = device.type == "cuda" and re.search("conv_?transpose", task.source, re.IGNORECASE) is not None
        # The things that a forward changes: everything, until a probe says otherwise.
        self.changes_module = self.changes_inputs = self.changes_parameters = True

    def build(self):
        strict()
        seed_all(self.init_seed)
        with torch.no_grad(), made_on(self.device), self.task.elsewhere(self.device):
            model = self.task.build(lambda: seed_all(self.init_seed))
            with self.task.blame("Model.__init__"):
                model = model.to(self.device)
            check_weights(self.task, model)
        if is_lazy(model):
            self.settle(model)
        if self.weights:
            varied(model, *self.weights)
        return self.adapted(model)

    def settle(self, model):
        """A lazy module knows its weights when it has seen inputs."""
        inputs = self.inputs(self.init_seed)
        seed_all(self.init_seed)
        adapt(model, self.task.form)
        with self.task.blame("Model.forward"), torch.no_grad(), made_on(self.device), \
                self.task.elsewhere(self.device):
            model(*inputs)

    def adapted(self, model):
        """A module that takes inputs as they lie in shares, once their form is known."""
        return adapt(model, self.task.form) if self.task.form else model

    def build_own(self):
        """A module with the constructor's weights."""
        kept, self.weights = self.weights, None
        try:
            return self.build()
        finally:
            self.weights = kept

    def vary(self, seed, strength, boosts=None, shrink=1.0):
        """From here on the weights are others: see vary.py. Names of those that are; with a
        strength of 0 the constructor's."""
        self.weights = None
        self.module, self.wide_module, self.near_module = self.build(), None, None
        self.weights = (seed, strength, boosts, shrink) if strength else None
        return varied(self.module, *self.weights) if strength else []

    def inputs(self, seed):
        """The task's inputs for one seed, on the device, without gradients."""
        seed_all(seed)
        with torch.no_grad(), made_on(self.device), self.task.elsewhere(self.device):
            inputs = self.task.make_inputs(seed)
        return mapped(inputs, lambda t: t.detach().to(self.device))

    def probe(self, inputs, seed, mode):
        """The first call, under a dispatch mode: it shows which things a forward changes, perhaps these inputs,
        and the sources of its outputs."""
        module, args = self.copy(), inputs
        parameters = list(module.parameters())
        before = fingerprint(module), versions(args), versions(parameters)
        recorder = mode(module, args)
        result = self.raw(module, args, seed, recorder)
        found = [t for _, t in results(result)]
        self.sources = [recorder.source(t) for t in found if isinstance(t, torch.Tensor)]
        self.memory = recorder.memory.describe(found)
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
        self.own_type = own_type.of(inputs, self.module)
        try:
            if self.wide_module is None or self.changes_module:
                self.wide_module = widened(self.copy())
            args = mapped(inputs, wide)
            args = mapped(args, copied) if self.changes_inputs else args
            outputs = self.call(self.wide_module, args, seed, Both(mode, Wide()), torch.float64)
        except Fault as fault:
            if fault.name in ("device", "memory"):
                raise
            self.wide_module = None
            return None
        lost = any(t.is_floating_point() and t.dtype != torch.float64 for _, t in outputs)
        return None if lost else outputs

    def forward_near(self, inputs, seed, moved, mode):
        """The reference in float64, under a dispatch mode. `moved` makes private, moved copies of its factors, weights
        too."""
        module, given = self.near()
        self.own_type = own_type.of(inputs, self.module)
        for tensor, data in given:
            tensor.data = moved(data)
        return self.call(module, mapped(inputs, moved), seed, Both(Wide(), mode), torch.float64)

    def near(self):
        """A module in float64 whose weights may be replaced, and pairs of each weight with its own value. The same module
        is used again if no forward changes it and its weights are few, because it holds them once more."""
        if self.near_module is not None:
            return self.near_module
        module = widened(self.copy())
        given = [(t, t.data) for t in dict.fromkeys(list(module.parameters()) + list(module.buffers()))]
        if not self.changes_module and sum(t.numel() for t, _ in given) <= FEW_WEIGHTS:
            self.near_module = module, given
        return module, given

    def follow(self, inputs, seed, mode):
        """The results of forward under a mode that replaces them: tensors in order."""
        module = self.copy() if self.changes_module else self.module
        args = mapped(inputs, copied) if self.changes_inputs else inputs
        return [t for _, t in results(self.raw(module, args, seed, mode))]

    def call(self, module, args, seed, mode=None, default=None):
        return self.named(self.raw(module, args, seed, mode, default), default)

    def raw(self, module, args, seed, mode=None, default=None):
        strict(not self.free)
        seed_all(seed)
        usual = torch.get_default_dtype()
        torch.set_default_dtype(default or usual)
        module, before = self.adapted(module), versions(args)
        try:
            with self.task.blame("Model.forward"), torch.no_grad(), made_on(self.device), \
                    self.task.elsewhere(self.device), self.taps(default), self.kept(default), mode or contextlib.nullcontext():
                result = module(*args)
        finally:
            torch.set_default_dtype(usual)
        return self.written(args, before) if result is None else result

    def kept(self, dtype):
        source = getattr(self.task, "module", None)
        return own_type.kept(self.own_type, vars(source) if source else {}) if dtype is torch.float64 else contextlib.nullcontext()

    def taps(self, dtype):
        return Taps() if dtype is torch.float64 and self.device.type == "cuda" else contextlib.nullcontext()

    def written(self, args, before):
        """The inputs that a forward without results wrote to: they are its outputs, from now on for every
        module of the task."""
        at = [i for i, item in enumerate(args) if isinstance(item, torch.Tensor)
              and (id(item), item._version) not in before]
        self.task.form.written = at
        return [args[i] for i in at]

    def named(self, result, dtype=None):
        """Outputs in order, with their names, of whatever forward returned; floats of `dtype`."""
        found = list(results(result, "", dtype))
        for name, value in found:
            if not isinstance(value, torch.Tensor):
                raise self.task.fault("Model.forward", "forward returns %s%s; it must return tensors, numbers,"
                                      " None, or tuples, lists, dicts or dataclasses of these"
                                      % (type(value).__name__, " as " + name if name else ""))
            with self.task.located("Model.forward"):
                dense(value, "output" + (" " + name if name else ""))
        if not found:
            raise self.task.fault("Model.forward", "forward returns nothing to compare")
        return [(name, value.detach().to(self.device).contiguous()) for name, value in found]

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


def is_lazy(module):
    """Whether it has weights whose shapes are not known yet."""
    return any(torch.nn.parameter.is_lazy(t) for t in [*module.parameters(), *module.buffers()])


def check_weights(task, module):
    with task.located("Model.__init__"):
        for name, tensor in module.state_dict().items():
            if isinstance(tensor, torch.Tensor):
                dense(tensor, "parameter '%s'" % name)


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
