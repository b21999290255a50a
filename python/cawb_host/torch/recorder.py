"""The op graph: one entry per ATen operator that a forward executes.

A Recorder is a dispatch mode around one call of the module. An entry has
* the operator: `op` as PyTorch writes it, `name` and `traits` from operators.py;
* its tensors with their source, and its other arguments;
* its least cost: bytes read and written (each tensor once, views for free), and FLOPs (2 M N K for products; one per
  element elsewhere).

A computation may be written in place, with `out=` or as a function: its entry differs only in `op`.
"""
import functools
import math

import torch
from torch._subclasses.fake_tensor import unset_fake_temporarily

from cawb_host.torch.mode import Mode
from cawb_host.torch import operators
from cawb_host.torch.memory import Memory
from cawb_host.torch.composite import Whole
from cawb_host.torch.constants import Constants, tensors_in
from cawb_host.torch.number import ASKS, Taken
from cawb_host.base.forms import dense
from cawb_host.base.tensors import NAMES

LARGEST = 20000  # entries; an unrolled recurrence may go on for ever


class Recorder(Mode):
    def __init__(self, module, args):
        super().__init__()
        self.entries, self.notes = [], []
        self.ticks = 0
        self.dynamic = False        # whether there are operators whose result's shape depends on data
        self.exact, self.writes = {}, {}  # (time, label) by exact view, by storage
        self.memory = Memory(module)
        self.constants = Constants(self.memory.has)
        self.together, self.within = Whole(self.whole), 0
        self.taken = Taken(self.number_of, self.unseen, self.asked)
        for name, tensor in module.state_dict(keep_vars=True).items():
            if isinstance(tensor, torch.Tensor):
                self.label(tensor, "param:" + name, True)
                self.memory.base(tensor, "param:" + name)
        for i, item in enumerate(args):
            for tensor in tensors_in(item):
                self.label(tensor, "input:%d" % (i + 1), True)
                self.memory.base(tensor, "input:%d" % (i + 1))

    def __enter__(self):
        self.together.__enter__()
        self.taken.__enter__()
        return super().__enter__()

    def __exit__(self, *raised):
        super().__exit__(*raised)
        self.taken.__exit__(*raised)
        self.together.__exit__(*raised)

    def number_of(self, tensor):
        """Where the one real number of a tensor lies, if that is a parameter or buffer to which nothing was written; else None."""
        source = self.writes.get(storage(tensor), (0, ""))[1]
        if self.within or not source.startswith("param:") or tensor.numel() != 1 or not tensor.is_floating_point():
            return None
        return dict(about(tensor), source=source, **self.memory.place(tensor))

    def asked(self, number):
        """The program goes on as this number says."""
        self.record(ASKS, [("self", number.tensor)], [("self", number.tensor, self.source(number.tensor))], [], None)

    def unseen(self, call):
        """What `call` returns, without entries for what it does."""
        self.within += 1
        try:
            return call()
        finally:
            self.within -= 1

    def whole(self, func, args, call):
        """One entry for what `call` does, as if it were the operator `func`."""
        if self.within:
            return call()
        return self.observe(func, args, {}, call)

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if self.within or func.namespace == "prim":  # questions, such as for a tensor's device
            return func(*args, **kwargs)
        func, args = self.constants.without_masks(func, args)
        return self.observe(func, args, kwargs, lambda: func(*args, **kwargs))

    def observe(self, func, args, kwargs, call):
        named = [(name, value) for name, value in arguments(func, args, kwargs)
                 if name not in results_of(func) or isinstance(value, torch.Tensor) and is_part(value)]
        told = values_of(func, args, kwargs)
        inputs = [(name, tensor, self.source(tensor)) for name, value in named
                  for tensor in tensors_in(value)]
        known = self.constants.follow(func, args, kwargs)
        if known and self.constants.needed(func):
            result, made = self.unseen(lambda: self.constants.answer(func, args, kwargs, call))
            told = next(tensors_in(made), None)
        else:
            result, made = self.unseen(call), None
        outputs = list(tensors_in(result))
        for tensor in outputs:
            if tensor.layout != torch.strided:
                at = self.memory.called()
                dense(tensor, "%s:%s: what %s makes" % (at.get("file", self.memory.path), at.get("line"), func))
        self.unseen(lambda: self.constants.note(func, args, kwargs, outputs, known, made))
        self.dynamic = self.dynamic or torch.Tag.dynamic_output_shape in func.tags and not known
        if len(self.entries) < LARGEST:
            self.record(func, named, inputs, outputs, told)
        elif len(self.notes) == 0:
            self.notes.append("the op graph stops after %d operators" % LARGEST)
        return result

    def record(self, func, named, inputs, outputs, told):
        sources = {storage(tensor) for _, tensor, _ in inputs}
        writes = func._schema.is_mutable
        aliases = bool(outputs) and not writes and all(storage(t) in sources for t in outputs)
        row = operators.called(operators.of(func, aliases), dict(named))
        kind = row.kind
        entry = {"op": str(func), "name": row.name, "kind": kind,
                 "traits": operators.traits(row, {name for name, _, _ in inputs}),
                 "inputs": [dict(about(t), arg=name, source=source, **where(t, kind))
                            for name, t, source in inputs],
                 "outputs": [about(t) for t in outputs],
                 "args": {name: plain(value, self.taken.given) for name, value in named
                          if value is not None and not list(tensors_in(value))},
                 "bytes_read": 0, "bytes_written": 0, "flops": 0}
        if kind != "view":
            unread = row.writes if writes else ()
            entry["bytes_read"] = sum({key(t): touched(t) for name, t, _ in inputs
                                       if name not in unread}.values())
            entry["bytes_written"] = sum(touched(t) for t in outputs)
            entry["flops"] = flops(row, [t for _, t, _ in inputs], outputs, dict(named))
        if writes and any(is_part(t) for t in outputs):
            entry["traits"]["partial"] = True
        self.entries.append(entry)
        self.memory.note(named, [t for _, t, _ in inputs], outputs, kind == "view", told)
        for tensor in outputs:
            self.label(tensor, "op:%d" % len(self.entries), not aliases)

    # Tensors are recognised by storage and view: Python objects come and go.

    def label(self, tensor, text, written):
        self.ticks += 1
        self.exact[key(tensor)] = (self.ticks, text)
        if written:
            self.writes[storage(tensor)] = (self.ticks, text)

    def source(self, tensor):
        """Who made this tensor: the later of its view's maker and the last
        operator that wrote to its memory."""
        none = (0, "const")
        return max(self.exact.get(key(tensor), none), self.writes.get(storage(tensor), none))[1]


def storage(tensor):
    return tensor.untyped_storage()._cdata  # the same for all views, data or none


def key(tensor):
    return (storage(tensor), tensor.storage_offset(), tuple(tensor.shape), tensor.stride(),
            tensor.dtype)


def about(tensor):
    return {"shape": list(tensor.shape), "dtype": NAMES.get(tensor.dtype, str(tensor.dtype)[6:])}


def where(tensor, kind):
    """How a factor lies in its memory; others are known by shape alone."""
    if kind != "matmul":
        return {}
    return {"strides": list(tensor.stride()), "offset": tensor.storage_offset()}


def touched(tensor):
    """Bytes behind a tensor, an expanded dimension counted once."""
    return tensor.element_size() * math.prod(
        n for n, s in zip(tensor.shape, tensor.stride()) if s != 0 or n == 0)


def arguments(func, args, kwargs):
    """Pairs (schema name, value), defaults filled in."""
    pairs = []
    for i, argument in enumerate(func._schema.arguments):
        if i < len(args):
            value = args[i]
        else:
            value = kwargs.get(argument.name, argument.default_value)
        pairs.append((argument.name, value))
    return pairs


def is_part(tensor):
    """Whether there is more in a tensor's memory: a write to it leaves the rest as it was."""
    return touched(tensor) < tensor.untyped_storage().nbytes()


@functools.lru_cache(maxsize=None)
def results_of(func):
    """Arguments that only say where the results go."""
    return {a.name for a in func._schema.arguments
            if a.kwarg_only and a.alias_info is not None and a.alias_info.is_write}


def values_of(func, args, kwargs):
    """What an operator of numbers alone makes, computed on the processor; None for others."""
    if not operators.find(operators.name_of(func)).told:
        return None
    with unset_fake_temporarily():
        return func(*args, **dict(kwargs, device="cpu"))


def plain(value, given=()):
    """An argument as JSON takes it; a number of a tensor, of those `given` by value, as the place where it lies."""
    if isinstance(value, (tuple, list)):
        return [plain(x, given) for x in value]
    if isinstance(value, float) and value in given:
        return {"item": given[value]}
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, torch.dtype):
        return NAMES.get(value, str(value)[6:])
    return str(value)


def flops(row, inputs, outputs, named):
    if row.kind == "matmul":
        return matmul_flops(inputs, outputs)
    if row.kind == "convolution":
        weight = named["weight"]
        over = named["input"] if named.get("transposed") else outputs[0]
        return 2 * over.numel() * math.prod(weight.shape[1:])
    if row.products and "query" in named:
        query, size = named["query"], named["key"].shape[-2]
        return 2 * query.numel() * size + 2 * outputs[0].numel() * size
    if row.products and "params" in named:  # cells: each weight once for each place of a sequence
        places = named["input"].shape[:2].numel()
        return 2 * places * sum(t.numel() for t in named["params"] if t.dim() == 2)
    if row.kind in ("reduction", "normalization"):
        return inputs[0].numel() if inputs else 0
    return max((t.numel() for t in outputs), default=0)


def matmul_flops(inputs, outputs):
    """2 M N K: K is the last dimension of the product's left factor, which is
    the second last of the tensors (an addmm has its bias in front)."""
    factors = [t for t in inputs if t.dim() > 0][-2:] if len(inputs) > 1 else inputs
    inner = factors[0].shape[-1] if factors else 0
    return 2 * outputs[0].numel() * inner
