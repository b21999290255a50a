"""recording: a graph of AOTAutograd's, in the form in which the task host records a task. `cawb lower` reads both."""
import dataclasses
import operator
import os
import re
import sys

import torch
from torch._guards import detect_fake_mode
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._python_dispatch import _disable_current_modes

from cawb.backend.fallback import traced
from cawb.backend.late import Late, follows_data

HERE = os.path.dirname(os.path.abspath(__file__))


def host_folder():
    """The folder with cawb_host: of the installed tree in a wheel, or of a checkout."""
    wheel = os.path.join(os.path.dirname(HERE), "tree", "share", "cawb", "python")
    return wheel if os.path.isdir(wheel) else os.path.dirname(os.path.dirname(HERE))


if host_folder() not in sys.path:
    sys.path.append(host_folder())

from cawb_host.base.tensors import NAMES, Layout      # noqa: E402  pylint: disable=wrong-import-position
from cawb_host.torch.operators import name_of         # noqa: E402,F401  pylint: disable=wrong-import-position,unused-import
from cawb_host.torch.recorder import Recorder         # noqa: E402  pylint: disable=wrong-import-position


class Refused(Exception):
    """The graph cannot become a package: the message says why."""


def place_of(node):
    """"FILE:LINE" of the user's program that a node comes from; "" where nobody knows."""
    found = re.findall(r'File "([^"]+)", line (\d+)', node.meta.get("stack_trace") or "")
    return "%s:%s" % found[-1] if found else ""


class State:
    """What the recorder asks a module for: its parameters."""
    forward = None

    def __init__(self, tensors):
        self.tensors = tensors

    def state_dict(self, keep_vars=True):
        del keep_vars
        return self.tensors


def restrided(made, wanted):
    """What an operator made, in the strides that the graph was traced with: what stands for it may lay it out otherwise."""
    if isinstance(made, (tuple, list)) and isinstance(wanted, (tuple, list)):
        return type(made)(map(restrided, made, wanted))
    if not isinstance(made, torch.Tensor) or not isinstance(wanted, torch.Tensor):
        return made
    if all(a == b or n < 2 for a, b, n in zip(made.stride(), wanted.stride(), made.shape)):
        return made
    return torch.empty_strided(wanted.shape, wanted.stride(), dtype=made.dtype, device=made.device).copy_(made)


def with_tensors(target, args):
    """Numbers in the place of tensors, as of `1 - x`, are tensors of the type that both have together."""
    schema, others = getattr(target, "_schema", None), [x for x in args if isinstance(x, torch.Tensor)]
    if schema is None or not others:
        return args
    return tuple(torch.full((), x, dtype=torch.result_type(others[0], x), device=others[0].device)
                 if isinstance(x, (bool, int, float)) and about.name in ("self", "other") and str(about.type) == "Tensor" else x
                 for x, about in zip(args, schema.arguments))


class Walk(torch.fx.Interpreter):
    """Runs a graph on tensors without data, and knows which node is under way."""

    def __init__(self, module, constants):
        super().__init__(module, garbage_collect_values=True)
        self.constants, self.node = constants, None

    def run_node(self, n):
        self.node = n
        return restrided(super().run_node(n), n.meta.get("val"))

    def call_function(self, target, args, kwargs):
        if isinstance(target, torch._ops.HigherOrderOperator):                  # pylint: disable=protected-access
            raise Refused("%s runs another operator" % target)
        if follows_data(target, args):
            raise Refused("the shape of %s follows from data" % target)
        return super().call_function(target, with_tensors(target, args), kwargs)

    def get_attr(self, target, args, kwargs):
        if target in self.constants:
            return self.constants[target]
        return super().get_attr(target, args, kwargs)

    def called(self):
        place = place_of(self.node) if self.node is not None else ""
        return {"line": int(place.rsplit(":", 1)[1])} if place else {}


@dataclasses.dataclass
class Output:
    """How a result of the graph is made: `number` of the computed tensor or of the argument (`kind`), seen with `size`,
    `stride` and `offset`; or `value`, which no package makes. "copied": the strides have gaps, so the values are copied into such a tensor."""
    kind: str
    number: int = 0
    size: tuple = ()
    stride: tuple = ()
    offset: int = 0
    value: object = None
    dtype: object = None


@dataclasses.dataclass
class Recorded:
    """`request` for cawb lower; `forms`: (size, strides) of each argument that is a tensor; `arguments`: for each argument of the graph, then each constant, its place ("input", k) or
    ("param", k), or None; `constants`: tensors of the graph's own, behind the arguments; `made`: (dtype, size) of what the
    package computes; `outputs`: how the graph's results come of that."""
    request: dict
    forms: list
    arguments: list
    constants: list
    made: list
    outputs: list
    operators: int


def fake_of(module, example):
    """Arguments without data, and the mode that they belong to."""
    mode = detect_fake_mode(example) or FakeTensorMode(allow_non_fake_inputs=True)
    return mode, [mode.from_tensor(x, static_shapes=True) if isinstance(x, torch.Tensor) and not hasattr(x, "fake_mode") else x
                  for x in example]


def constants_of(module):
    return {n.target: operator.attrgetter(n.target)(module) for n in module.graph.nodes if n.op == "get_attr"}


def record(module, example, params=(), own=()):
    """A Recorded of a graph module; `params`: numbers of the arguments that are parameters; `own`: names of the operators that the
    compiler has. Raises Refused."""
    for x in example:
        if not isinstance(x, (torch.Tensor, int, float, bool, type(None))) or isinstance(x, torch.SymInt):
            raise Refused("an argument is %s" % type(x).__name__)
        if isinstance(x, torch.Tensor) and x.layout != torch.strided:
            raise Refused("an argument is a tensor of layout %s, which kernels do not take" % x.layout)
        if isinstance(x, torch.Tensor) and any(isinstance(n, torch.SymInt) for n in x.shape):
            raise Refused("the size of an argument follows from data")
    found = {str(x.device) for x in example if isinstance(x, torch.Tensor)}
    if len(found) > 1:
        raise Refused("its arguments are on several devices: %s" % ", ".join(sorted(found)))
    mode, fakes = fake_of(module, example)
    held = {name: t for name, t in constants_of(module).items() if isinstance(t, torch.Tensor)}
    with mode:
        constants = {name: t if hasattr(t, "fake_mode") else mode.from_tensor(t, static_shapes=True) for name, t in held.items()}
    try:
        return Recording(module, mode, fakes, set(params), constants).run(Late(own, name_of), list(held.values()))
    except Refused:
        raise
    except Exception as error:                # pylint: disable=broad-except   # an operator that does not run on tensors without data
        raise Refused(str(error).split("\n", 1)[0]) from error


def zeros(wanted):
    """What stands for a tensor that no operator needs to make: a seed where nothing is random. It is made once."""
    with _disable_current_modes():
        return torch.zeros(wanted.shape, dtype=wanted.dtype, device=wanted.device)


class Recording:
    def __init__(self, module, mode, fakes, params, constants):
        self.module, self.mode, self.fakes, self.constants = module, mode, fakes, constants
        tensors = [i for i, x in enumerate(fakes) if isinstance(x, torch.Tensor) and x.dtype in NAMES]
        self.inputs, self.params = [i for i in tensors if i not in params], [i for i in tensors if i in params]
        state = {"p%d" % i: fakes[i] for i in self.params}
        state.update(("c%d" % k, t) for k, t in enumerate(constants.values()))
        self.state, self.made, self.known = state, [], {}

    def run(self, late, constants):
        recorder = Recorder(State(self.state), [self.fakes[i] for i in self.inputs])
        walk = Walk(self.module, self.constants)
        recorder.memory.called = walk.called
        # A graph takes no number by .item() in Python, which the recorder would look for in each question for a shape.
        with self.mode, torch.no_grad(), recorder, late, torch._C.DisableTorchFunction():            # pylint: disable=protected-access
            results = walk.run(*self.fakes)
        with self.mode, torch.no_grad(), recorder, torch._C.DisableTorchFunction():                  # pylint: disable=protected-access
            given = self.given()
            outputs = [self.output(x, wanted, given) for x, wanted in zip(results, traced(self.module))]
        if recorder.notes:
            raise Refused(recorder.notes[0])
        self.look_for_others(recorder.entries)
        forms = [(tuple(x.shape), x.stride()) if isinstance(x, torch.Tensor) else None for x in self.fakes]
        return Recorded(self.request(recorder), forms, self.places(), constants,
                        [(t.dtype, tuple(t.shape)) for t in self.made], outputs, len(recorder.entries))

    def look_for_others(self, entries):
        """An argument of another type is no matter where nobody reads it, as attention's backward reads no state of random numbers."""
        others = {str(x.dtype).removeprefix("torch.") for x in self.fakes if isinstance(x, torch.Tensor) and x.dtype not in NAMES}
        for name in sorted(others.intersection(x["dtype"] for entry in entries for x in entry["inputs"])):
            raise Refused("an argument is a tensor of %s, which kernels do not take" % name)

    def request(self, recorder):
        inputs, made, own = Layout(), Layout(), Layout()
        for t in self.made:
            if t.dtype not in NAMES:
                raise Refused("a result is a tensor of %s, which kernels do not make" % t.dtype)
            if any(t.device != self.fakes[i].device for i in self.inputs + self.params):
                raise Refused("a result is on another device: %s" % t.device)
        return {"graph": recorder.entries, "memory": recorder.memory.describe(self.made),
                "inputs": [inputs.add(self.fakes[i], "an argument") for i in self.inputs],
                "outputs": [made.add(t, "a result") for t in self.made],
                "params": [dict(own.add(t, "a parameter"), name=n, kind="parameter") for n, t in self.state.items()]}

    def places(self):
        found = [None] * len(self.fakes)
        for k, i in enumerate(self.inputs):
            found[i] = ("input", k)
        for k, i in enumerate(self.params):
            found[i] = ("param", k)
        return found + [("param", len(self.params) + k) for k in range(len(self.constants))]

    def given(self):
        """The first argument or constant of each memory and type, and its number."""
        found = {}
        for number, x in enumerate(self.fakes + list(self.constants.values())):
            if isinstance(x, torch.Tensor):
                found.setdefault((x.untyped_storage()._cdata, x.dtype), (number, x))
        return found

    def output(self, x, wanted, given):
        """How a result is made; notes in `made` what has to be computed for it. Strides of single elements are as declared. `given`: see there."""
        if not isinstance(x, torch.Tensor):
            return Output("value", value=zeros(wanted) if isinstance(wanted, torch.Tensor) else x)
        strides = wanted.stride() if isinstance(wanted, torch.Tensor) else x.stride()
        about = {"size": tuple(x.shape), "stride": tuple(strides), "dtype": x.dtype}
        if x.numel() == 0:
            return Output("empty", **about)
        memory = x.untyped_storage()._cdata
        if (memory, x.dtype) in given:
            number, argument = given[memory, x.dtype]
            return Output("argument", number, offset=x.storage_offset() - argument.storage_offset(), **about)
        if (memory, x.dtype) in self.known:
            return Output("made", self.known[memory, x.dtype], offset=x.storage_offset(), **about)
        return self.computed(x, memory, about)

    def computed(self, x, memory, about):
        """What lies in memory in one piece is computed as it lies there."""
        seen = x
        for d, (n, s) in enumerate(zip(x.shape, x.stride())):
            if n > 1 and s == 0:
                seen = seen.narrow(d, 0, 1)
        seen = seen.permute(sorted(range(x.dim()), key=lambda d: (-seen.stride(d), d)))
        copied = not seen.is_contiguous()
        if copied:
            seen = x.contiguous()
        elif seen.storage_offset() == 0 and seen.numel() * seen.element_size() == seen.untyped_storage().nbytes():
            self.known[memory, x.dtype] = len(self.made)
        self.made.append(seen)
        return Output("copied" if copied else "made", len(self.made) - 1, **about)
