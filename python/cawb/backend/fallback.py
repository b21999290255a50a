"""fallback: what runs a graph that no package runs: Inductor where it can, else PyTorch operator by operator."""
import concurrent.futures
import contextlib
import copy
import importlib
import logging

import torch

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


def eager(module):
    def run(*args):
        with torch.no_grad():
            return module.forward(*args)
    return run


def elsewhere(f, chip):
    """f() in a thread of its own: a first call may come from inside of an autograd function, where tracing does not work."""
    def work():
        with torch.no_grad(), torch.cuda.device(chip.gpu) if chip and chip.gpu is not None else contextlib.nullcontext():
            return f()
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        return pool.submit(work).result()


def make(module, args, chip, options):
    """A function of the graph's arguments. `args` are those of a first call."""
    if name_of(chip, options) == "eager":
        return eager(module)
    try:
        return elsewhere(lambda: torch._inductor.compile(module, list(args)), chip)        # pylint: disable=protected-access
    except Exception as error:                                         # pylint: disable=broad-except
        once("cawb: Inductor does not compile a graph (%s); it runs operator by operator" % str(error).split("\n", 1)[0])
        return eager(module)


def symbolic(module, example):
    """Inductor's function of a graph of Dynamo's whose sizes are symbolic: one for all sizes, with gradients."""
    try:
        return importlib.import_module("torch._inductor.compile_fx").compile_fx(copy.deepcopy(module), example)
    except Exception as error:                                         # pylint: disable=broad-except
        once("cawb: Inductor does not compile a graph (%s); it runs operator by operator" % str(error).split("\n", 1)[0])
        return module


class Late:
    """The fallback of a graph, compiled at its first call."""

    def __init__(self, module, chip, options):
        self.module, self.chip, self.options, self.made = module, chip, options, None

    def __call__(self, *args):
        return self.compiled(args)(*args)

    def compiled(self, args):
        if self.made is None:
            self.made = make(self.module, args, self.chip, self.options)
        return self.made
