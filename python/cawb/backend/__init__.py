"""The backend of torch.compile: `torch.compile(model, backend="cawb", options={...})`. An installed wheel registers it under this
name. AOTAutograd hands over graphs; packages of kernels run them, and a fallback runs what has no package."""
import copy
import time

import torch
from torch._decomp import core_aten_decompositions
from torch._dynamo.backends.common import aot_autograd
from torch._functorch import config
from torch._functorch.aot_autograd import make_boxed_func
from torch._functorch.partitioners import min_cut_rematerialization_partition
from torch._guards import TracingContext, tracing
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._python_dispatch import is_traceable_wrapper_subclass

from cawb.backend import devices, fallback, lowering, packages, partition, recording, report, sizes
from cawb.backend.options import Options, read
from cawb.backend.part import Cut, Part, is_timed

__all__ = ["Options", "backend", "compile", "explain"]


def params_of(kind, module):
    """Numbers of the arguments that are parameters or buffers. A backward has the names of the forward's arguments."""
    context = TracingContext.try_get()
    about = context.fw_metadata if context else None
    static = about.static_input_indices if about is not None else ()
    if kind != "backward":
        return tuple(static)
    names = {"primals_%d" % (i + 1) for i in static}
    return tuple(k for k, node in enumerate(module.graph.find_nodes(op="placeholder")) if node.name in names)


def is_plain(example):
    """Whether a graph without gradients takes its function's arguments and makes its results, so that PyTorch has nothing to do around it:
    no mutation, no alias, no tensor of a class of its own."""
    context = TracingContext.try_get()
    about = context.fw_metadata if context else None
    nothing = ("num_mutated_inp_runtime_indices", "num_mutated_graph_handled_indices", "num_outputs_aliased", "num_intermediate_bases",
               "tokens", "dynamic_outputs")
    return about is not None and all(hasattr(about, name) and not getattr(about, name) for name in nothing) \
        and about.grad_enabled_mutation is None and not any(map(is_traceable_wrapper_subclass, example))


class Compiler:
    """Makes one graph of AOTAutograd's callable. `later`: a list for parts whose packages are made while the program goes on."""

    def __init__(self, kind, options, owner, later=None):
        self.kind, self.options, self.owner, self.later, self.plain = kind, options, owner, later, None

    def __call__(self, module, example):
        begin, entry = time.perf_counter(), report.add(report.GraphEntry(self.kind, self.options, self.owner))
        try:
            chip = devices.find(example, self.options)
        except recording.Refused as why:
            return self.left(module, None, entry, str(why))
        entry.fallback = fallback.name_of(chip, self.options)
        try:
            run = self.whole(module, example, chip, entry)
        except lowering.Failed as why:
            return self.left(module, chip, entry, str(why))
        except Exception as error:             # pylint: disable=broad-except   # a mistake in here is no reason to stop a program
            fallback.log.debug("cawb: a graph", exc_info=True)
            return self.left(module, chip, entry, "an error in the backend: %s: %s" % (type(error).__name__, str(error).split("\n", 1)[0]))
        entry.seconds = time.perf_counter() - begin
        entry.changed()
        if isinstance(run, Part) and is_plain(example):
            self.plain = run, len(example)
        return make_boxed_func(run.callable() if isinstance(run, Part) else run)

    def left(self, module, chip, entry, why):
        """The graph as it is, by the fallback."""
        entry.part(operators=count(module), why=why)
        entry.changed()
        fallback.once("cawb: a graph runs as %s: %s" % (entry.fallback, why))
        return make_boxed_func(fallback.Late(module, chip, self.options))

    def whole(self, module, example, chip, entry):
        """One package of the whole graph, or many of its parts. What cannot be made later is asked for now, where this program has
        had such a graph: at other sizes."""
        if self.later is not None and any(g.left for g in report.of(self.owner)) and partition.refused(module, chip):
            return self.cut(module, example, chip, entry)
        try:
            return self.part(module, example, params_of(self.kind, module), chip, entry)
        except recording.Refused:
            return self.cut(module, example, chip, entry)

    def part(self, module, example, params, chip, entry, alone=True):
        with entry.phase("recording"):
            recorded = recording.record(module, example, params, lowering.operators(chip.simulated))
        if self.kind == "backward":
            recorded.request["gradients"] = True
        if not recorded.made:
            entry.part(operators=0, why="it computes nothing")
            return fallback.eager(module)
        other = fallback.Late(module, chip, self.options)

        def meanwhile():
            with entry.phase("compiling the fallback"):
                other.ahead(example)
        beside = {"meanwhile": meanwhile} if self.later is None and alone and is_timed(chip, self.options) else {}
        package = (packages.get if self.later is None else packages.begin)(recorded, chip, self.options, **beside)
        made = Part(module, recorded, package, chip, self.options, entry.part(operators=recorded.operators, alone=alone), other)
        if self.later is not None:
            self.later.append(made)
        return made

    def cut(self, module, example, chip, entry):
        whole, module = module, torch.fx.GraphModule(module, copy.deepcopy(module.graph))
        apart = partition.draw_first(module)
        bad = partition.refused(module, chip)
        for node, why in bad.items():
            entry.left.append((str(node.target), recording.place_of(node), why))
            fallback.once("cawb: %s at %s runs as %s: %s" % (node.target, recording.place_of(node) or "an unknown place",
                                                             entry.fallback, why))
        bad.update(apart)
        numbers = {n.name: i for i, n in enumerate(module.graph.find_nodes(op="placeholder"))}
        params = {name for name, i in numbers.items() if i in params_of(self.kind, module)}
        module, taken = partition.cut(module, bad, True)
        for call in taken:
            own = [i for i, a in enumerate(call.args) if getattr(a, "name", None) in params]
            partition.replace(module, call, lambda inner, given, own=own: self.inner(inner, given, own, chip, entry))
        if entry.fallback == "inductor":
            module, rest = partition.cut(module, bad, False)
            for call in rest:
                partition.replace(module, call, lambda inner, _: fallback.Late(inner, chip, self.options))
        runs = [getattr(module, call.target).run for call in taken]
        return Cut(fallback.eager(module), [run for run in runs if isinstance(run, Part)], whole, chip, self.options, entry)

    def inner(self, module, example, params, chip, entry):
        """The package of a part, or the fallback where the compiler takes its operators alone and not together."""
        try:
            return self.part(module, example, params, chip, entry, alone=False)
        except recording.Refused as why:
            entry.part(operators=count(module), why=str(why))
            fallback.once("cawb: a part of a graph runs as %s: %s" % (entry.fallback, why))
            return fallback.Late(module, chip, self.options)


def count(module):
    return sum(n.op == "call_function" for n in module.graph.nodes)


def backend(module, example, *, options=None, mode=None, **more):
    """What torch.compile calls. Sizes that Dynamo has made symbolic are made numbers again: a package holds for one size."""
    del mode, more
    chosen = read(options)
    check_device(chosen)
    if any(map(sizes.is_symbolic, example)):
        return sizes.Sizes(module, lambda m, given: sized(m, given, chosen, options), stand_in(module, example, chosen), chosen.sizes)
    return static(module, example, chosen, options)


def check_device(chosen):
    """A device that does not exist is a mistake in the program, and no reason to run by the fallback."""
    if chosen.device.startswith("sim:"):
        try:
            lowering.hello(chosen.device)
        except lowering.Misnamed:
            raise
        except lowering.Failed:
            pass                               # each graph says so


def stand_in(module, example, chosen):
    """What runs a graph of symbolic sizes where no package does."""
    try:
        name = fallback.name_of(devices.find(example, chosen), chosen)
    except recording.Refused:
        name = fallback.name_of(None, chosen)
    return fallback.symbolic(module, example) if name == "inductor" else module


def sized(module, given, chosen, owner):
    """(function, parts to wait for) of a graph for the sizes of these arguments. Both directions are traced at once."""
    parts = []
    with tracing(TracingContext(FakeTensorMode(allow_non_fake_inputs=True))), config.patch(force_non_lazy_backward_lowering=True):
        return static(module, given, chosen, owner, parts), parts


def decompositions(example, chosen):
    """PyTorch's, but for the operators that the compiler has."""
    try:
        own = set(lowering.operators(devices.find(example, chosen).simulated))
    except (recording.Refused, lowering.Failed):
        own = set()
    return {f: way for f, way in core_aten_decompositions().items()
            if not isinstance(f, torch._ops.OpOverload) or recording.name_of(f) not in own}


def static(module, example, chosen, owner, later=None):
    compilers = {kind: Compiler(kind, chosen, owner, later) for kind in ("inference", "forward", "backward")}
    with config.patch(donated_buffer=False):
        run = aot_autograd(fw_compiler=compilers["forward"], bw_compiler=compilers["backward"], inference_compiler=compilers["inference"],
                           decompositions=decompositions(example, chosen), partition_fn=min_cut_rematerialization_partition)(module, example)
    part, count = compilers["inference"].plain or (None, 0)
    return part.callable(run) if count == len(example) and part else run


def compile(model, **options):                # pylint: disable=redefined-builtin
    """torch.compile(model, backend="cawb", options=options), from a checkout too, where nothing is installed."""
    chosen = read(options)
    if "cawb" not in torch._dynamo.list_backends():                      # pylint: disable=protected-access
        torch._dynamo.register_backend(backend, name="cawb")             # pylint: disable=protected-access
    return torch.compile(model, backend="cawb", options=options or {"choose": chosen.choose})       # torch.compile makes None of none


def context_of(compiled):
    """Dynamo's, of a compiled module or, in its closure, of a compiled function; or None."""
    held = [cell.cell_contents for cell in getattr(compiled, "__closure__", None) or ()]
    return next((one for one in (getattr(compiled, "dynamo_ctx", None), *held) if hasattr(one, "callback")), None)


def owner_of(compiled):
    """The options that a compiled function was made with: they are the same object in all of its graphs."""
    context = context_of(compiled)
    if context is None:
        raise TypeError("cawb.explain takes what torch.compile(..., backend=\"cawb\") returned, or nothing, not a %s" % type(compiled).__name__)
    at = context.callback
    while at is not None and not hasattr(at, "kwargs"):
        at = getattr(at, "_torchdynamo_orig_backend", None) or getattr(at, "_torchdynamo_orig_callable", None)
    return at.kwargs.get("options") if at is not None else None


def explain(compiled=None):
    """What became of the graphs of a compiled function, or of all in this process, as text: a row for each piece of a graph and, below,
    why operators and graphs fell back. docs/howto/compile.md explains the columns."""
    return report.text(report.of(owner_of(compiled)) if compiled is not None else report.graphs)
