"""fallback: what runs a graph that no package runs: Inductor where it can, else PyTorch operator by operator."""
import concurrent.futures
import contextlib
import copy
import importlib
import logging

import torch
from torch._dynamo import exc
from torch._subclasses.fake_tensor import FakeTensorMode

log = logging.getLogger("cawb")
said = set()


def once(message):
    """A warning, if it was not given before."""
    if message not in said:
        said.add(message)
        log.warning("%s", message)


def name_of(chip, options):
    """"inductor" or "eager". A simulated device's tensors are on the processor, and eager PyTorch is all that is needed there."""
    if options.fallback != "auto":
        return options.fallback
    return "inductor" if chip is not None and chip.gpu is not None else "eager"


def traced(module):
    """The graph's results as they were traced, where that is known."""
    node, = module.graph.find_nodes(op="output")
    results = node.args[0] if isinstance(node.args[0], (tuple, list)) else node.args
    return [n.meta.get("val") if isinstance(n, torch.fx.Node) else None for n in results]


def as_traced(results, wanted):
    """Results in the types that the graphs behind take. A layer norm of 16-bit numbers and float32 weights on a processor makes float32 where
    16 bits are traced."""
    if not isinstance(results, (tuple, list)):
        return results
    return tuple(x.to(w.dtype) if isinstance(x, torch.Tensor) and isinstance(w, torch.Tensor) and x.dtype != w.dtype else x
                 for x, w in zip(results, wanted, strict=True))


def eager(module):
    def run(*args):
        with torch.no_grad():
            return module.forward(*args)
    wanted = traced(module)
    on_processors = any(isinstance(w, torch.Tensor) and w.device.type == "cpu" for w in wanted)
    return (lambda *args: as_traced(run(*args), wanted)) if on_processors else run


def elsewhere(f, chip):
    """f() in a thread of its own: a first call may come from inside of an autograd function, where tracing does not work."""
    def work():
        with torch.no_grad(), torch.cuda.device(chip.gpu) if chip and chip.gpu is not None else contextlib.nullcontext():
            return f()
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        return pool.submit(work).result()


SORT = torch.ops.aten.sort
VIEWS = (torch.ops.aten.view.default, torch.ops.aten._unsafe_view.default)


def with_copies(module):
    """A copy of a graph in which a view that strides do not allow is a copy. Inductor makes some operators of others, as torch.cat beside
    an empty tensor, and lays their results out otherwise than they were traced."""
    graph = copy.deepcopy(module.graph)
    for node in [n for target in VIEWS for n in graph.find_nodes(op="call_function", target=target)]:
        node.target = torch.ops.aten.reshape.default
    return torch.fx.GraphModule(module, graph)


def settled(module):
    """The graph with sorts that keep the order of equal values, as kernels do: PyTorch's may have any."""
    if not module.graph.find_nodes(op="call_function", target=SORT.default):
        return module
    graph = copy.deepcopy(module.graph)
    for node in graph.find_nodes(op="call_function", target=SORT.default):
        places = dict(zip(("dim", "descending"), node.args[1:]), **node.kwargs)
        node.target, node.args, node.kwargs = SORT.stable, node.args[:1], dict(places, stable=True)
    return torch.fx.GraphModule(module, graph)


def inductor(module, args, chip):
    return elsewhere(lambda: torch._inductor.compile(with_copies(module), list(args)), chip)            # pylint: disable=protected-access


def forms_of(args):
    return [(x.shape, x.stride(), x.dtype, x.device) if isinstance(x, torch.Tensor) else x for x in args]


def make(module, args, chip, options):
    """A function of the graph's arguments. `args` are those of a first call."""
    if name_of(chip, options) == "eager":
        return eager(module)
    try:
        return inductor(module, args, chip)
    except Exception as error:                                         # pylint: disable=broad-except
        once("cawb: Inductor does not compile a graph (%s); it runs operator by operator" % str(error).split("\n", 1)[0])
        return eager(module)


RESTART = getattr(exc, "TensorifyScalarRestartAnalysis", ())           # Dynamo begins again, with a number in the place of an argument


def symbolic(module, example):
    """Inductor's function of a graph of Dynamo's whose sizes are symbolic: one for all sizes, with gradients."""
    try:
        return importlib.import_module("torch._inductor.compile_fx").compile_fx(copy.deepcopy(module), example)
    except RESTART:
        raise
    except Exception as error:                                         # pylint: disable=broad-except
        once("cawb: Inductor does not compile a graph (%s); it runs operator by operator" % str(error).split("\n", 1)[0])
        return module


class Late:
    """The fallback of a graph, compiled at its first call, or ahead of it for arguments of these `forms`."""

    def __init__(self, module, chip, options):
        self.module, self.chip, self.options, self.made, self.forms = module, chip, options, None, None

    def __call__(self, *args):
        return self.compiled(args)(*args)

    def ahead(self, example):
        """Compiles it for tensors without data; where that fails, the first call compiles it."""
        if name_of(self.chip, self.options) == "eager":
            return
        with FakeTensorMode():
            given = [torch.empty_strided(x.shape, x.stride(), dtype=x.dtype, device=x.device) if isinstance(x, torch.Tensor) else x
                     for x in example]
        with contextlib.suppress(Exception):
            self.made = inductor(self.module, given, self.chip)
            self.forms = forms_of(example)

    def compiled(self, args):
        if self.forms is not None and self.forms != forms_of(args):
            self.made = None                       # a gradient may come in other strides than it was traced with
        self.forms = None
        if self.made is None:
            self.made = make(self.module, args, self.chip, self.options)
        return self.made
