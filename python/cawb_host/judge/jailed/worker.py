"""A jailed worker: the untrusted side. From the moment that a candidate's file has been
executed nothing in this process can be believed, and nothing that it says is, except that
it says it: it reports no time, no verdict and no number.

    load {source, file, class, init, device, ...}   then `ready`, or why not
    call {}           run forward on what lies in the inputs' share; `ready`
    put  {slot}       copy the outputs to one of the places for them; `ready`

Every call is these two messages, whatever it is for.
"""
import ast
import base64
import contextlib
import importlib.machinery
import os
import pickle
import random
import sys
import types

import torch

from cawb_host.judge.jailed import builds
from cawb_host.judge.jailed import census
from cawb_host.judge.jailed import files
from cawb_host.judge.jailed import weights
from cawb_host.base.channel import Channel
from cawb_host.base.elsewhere import Elsewhere
from cawb_host.base.fault import Fault, one_line
from cawb_host.base.forms import Form, adapt, results
from cawb_host.base.protocol import protocol
from cawb_host.base.tensors import view
from cawb_host.base.vmm import attach

OURS = ("host", "jailed")      # packages of ours that a candidate finds no trace of
PACKAGES = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", "..", ".."))
PROTOCOL = protocol("jailed")    # read now: its file is outside of the jail
MODES = {"compile": None, "max_autotune": "max-autotune-no-cudagraphs"}


def main(fd, enter, threads, watcher, pack):
    """Enter the jail first; then serve until the judge has had enough. `pack` holds what a process of the same text built, or is None."""
    channel = Channel(fd)
    try:
        enter()
    except Fault as fault:
        channel.send(fault.reply())
        return
    if threads:
        torch.set_num_threads(threads)
    if pack is not None:
        builds.unpack(pack)
    serve(channel, Worker(watcher))


def build(fd, enter, request):
    """Enter the jail, then leave in `fd` what importing the file builds."""
    enter()
    if request["device"] != "cpu":
        torch.cuda.set_device(torch.device(request["device"]))
    builds.build(fd, execute, describe, dict(request, init_seed=0))


def serve(channel, worker):
    while True:
        request = channel.receive()
        if request is None:
            os._exit(0)
        try:
            request = PROTOCOL.request(request)
            reply = getattr(worker, request["op"])(request) or {}
        except BaseException as error:  # pylint: disable=broad-except
            reply = {"ok": False, "message": one_line(describe(error))}
        channel.send(dict({"ok": True}, **reply), (), request)


def describe(error):
    if isinstance(error, Fault):
        return error.message
    text = "%s: %s" % (type(error).__name__, error or "no message")
    trace, line = error.__traceback__, None
    while trace is not None:
        where = files.place(trace.tb_frame.f_code.co_filename)
        if where is not None:
            line = "%sline %d: " % (where, trace.tb_lineno)
        trace = trace.tb_next
    return (line or "") + text


class Worker:
    def __init__(self, watcher):
        self.outputs, self.watcher = None, watcher

    def look(self, request):
        """Facts about the file, before anything of it runs."""
        others = {name: text for name, text in request.get("files", {}).items() if name.endswith(".py")}
        if not others:
            return {"census": census.of(request["source"])}
        return {"census": census.together({files.FIRST: request["source"], **others})}

    def load(self, request):
        self.request, self.device = request, torch.device(request["device"])
        if self.device.type == "cuda":
            torch.cuda.set_device(self.device)
        self.watcher.begin(request["fds"].pop(), request["sizes"][-1], self.device.type == "cuda")
        shares = [attach(fd, size, self.device) for fd, size in zip(request["fds"], request["sizes"])]
        self.params, self.inputs, self.places = shares
        strict(request.get("tf32", False), request.get("class") != "ModelNew")
        values = pickle.loads(base64.b64decode(request["init"]))
        file = execute(request)
        made, form = class_of(file, request["class"]), Form.read(request["form"], records(file))
        self.elsewhere = self.device.type == "cpu" and "cuda" in request["source"]
        begin(request["init_seed"])
        with torch.no_grad(), self.made_on():
            module = made(**values) if isinstance(values, dict) else made(*values)
            module = adapt(module.to(self.device), form)
            if any(torch.nn.parameter.is_lazy(p) for p in [*module.parameters(), *module.buffers()]):
                module(*self.arguments())        # it knows its weights when it has seen inputs
        mapped = weights.load(module, [(spec["name"], view(self.params, spec), spec["kind"])
                                       for spec in request["params"]])
        self.module = compiled(module, request.get("mode"))
        self.settle()
        self.watcher.libraries()
        return mapped

    def made_on(self):
        return self.device if self.device.type == "cuda" else \
            Elsewhere(self.device) if self.elsewhere else contextlib.nullcontext()

    def arguments(self):
        return [self.argument(spec) for spec in self.request["inputs"]]

    def argument(self, spec):
        if "items" in spec:
            return [self.argument(s) for s in spec["items"]]
        if "dtype" in spec:
            return view(self.inputs, spec)
        return spec.get("value")

    def call(self, _request):
        arguments = self.arguments()
        with torch.no_grad(), self.made_on():
            result = self.module(*arguments)
        self.outputs = [t for _, t in results(result)]
        self.settle()

    def put(self, request):
        place = self.request["stride"] * request["slot"]
        specs, outputs = self.request["outputs"], self.outputs
        check(specs, outputs)
        memory = self.places[place:]
        with torch.no_grad():
            for spec, out in zip(specs, outputs):
                view(memory, spec).copy_(out.detach())
        self.outputs = None
        self.settle()
        self.watcher.libraries()

    def settle(self):
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)


def strict(tf32, cudnn_free):
    """As the references have it; baselines may choose cuDNN's algorithms freely."""
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = bool(tf32)
    torch.backends.cudnn.deterministic = not cudnn_free


def execute(request):
    """The candidate's file as a module that Triton and inspect can find the source of."""
    path = files.lay_out(os.environ["TMPDIR"], request["source"], request.get("files"))
    for name in [name for name in sys.modules if name.split(".")[0] in OURS]:
        del sys.modules[name]
    sys.path.remove(PACKAGES)
    begin(request["init_seed"])
    module = types.ModuleType("candidate")
    module.__file__ = path
    module.__spec__ = importlib.machinery.ModuleSpec("candidate", None, origin=path)
    sys.modules["candidate"] = module
    if request.get("files"):
        files.arrive(module, request["source"], request["files"])
    exec(compile(ast.parse(request["source"], filename=path), path, "exec", dont_inherit=True),
         module.__dict__)
    return module


def begin(seed):
    """Plain attributes of a module may be random: the reference's began here. Weights come from
    elsewhere."""
    torch.manual_seed(seed)
    random.seed(seed)
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(seed % (1 << 32))


def records(module):
    """Classes of the candidate's own that an input may be of: a tuple with names, a dataclass."""
    found = {}
    for name, value in vars(module).items():
        if isinstance(value, type):
            found[name if issubclass(value, tuple) else "=" + name] = value
    return found


def class_of(module, names):
    for name in names.split():
        if callable(getattr(module, name, None)):
            return getattr(module, name)
    raise Fault("task", "the file defines no class %s" % " or ".join(names.split()))


def compiled(module, mode):
    if mode not in MODES:
        return module
    return torch.compile(module, mode=MODES[mode]) if MODES[mode] else torch.compile(module)


def check(specs, outputs):
    """What an honest mistake looks like; a dishonest one is found by its values."""
    if outputs is None or len(outputs) != len(specs):
        raise Fault("task", "forward returns %d tensors, the reference %d"
                    % (len(outputs or ()), len(specs)))
    for i, (spec, out) in enumerate(zip(specs, outputs)):
        if not isinstance(out, torch.Tensor):
            raise Fault("task", "output %d is a %s, not a tensor" % (i + 1, type(out).__name__))
        if list(out.shape) != spec["shape"] or out.dtype != getattr(torch, spec["dtype"]):
            raise Fault("task", "output %d is %s %s, the reference's %s %s" % (
                i + 1, str(out.dtype)[6:], list(out.shape), spec["dtype"], spec["shape"]))
