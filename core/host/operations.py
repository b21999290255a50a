"""The operations: checks a request's fields, calls the workload, shapes replies.

Every operation takes the request and returns (reply, file descriptors).
"""
import gc
import os
import platform
import re
import sys
from importlib import metadata

import torch

from host.baselines import baseline
from host.judge import python_candidate
from host.wire.fault import Fault
from host.judge.reference import signed
from host.task.sketch import attempt
from host.wire.tensors import number
from host.workload import Workload


def version_of(package):
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


class Host:
    def __init__(self):
        self.workload = None
        version = tuple(int(x) for x in re.findall(r"\d+", torch.__version__)[:2])
        if version < (2, 1):
            raise Fault("missing", "PyTorch %s is too old, 2.1 or newer is needed; set"
                        " CAWB_PYTHON to a Python that has it" % torch.__version__)
        torch.set_num_threads(min(torch.get_num_threads(), len(os.sched_getaffinity(0))))

    def hello(self, _request):
        return {"python": platform.python_version(), "executable": sys.executable,
                "torch": torch.__version__, "cuda": torch.version.cuda, "gpus": gpus(),
                "cudnn": torch.backends.cudnn.version() if torch.version.cuda else None,
                "triton": version_of("triton"), "threads": torch.get_num_threads()}, ()

    def prepare(self, request):
        """What takes seconds once, ahead of any task: the context on a GPU, the handles of
        products, and with `compile` what torch.compile imports and starts."""
        device = open_device(field(request, "device", str))
        if device.type == "cuda":
            torch.cuda.set_device(device)
            for dtype in (torch.float32, torch.float64):
                one = torch.ones(1, 1, dtype=dtype, device=device)
                torch.mm(one, one)
            torch.cuda.synchronize()
            if field(request, "compile", bool, False):
                baseline.warm(device)
        return {}, ()

    def load(self, request):
        path = field(request, "path", str)
        device = open_device(field(request, "device", str))
        overrides = field(request, "overrides", dict, {})
        seed = whole(request, "init_seed", (1 << 63) - 1)
        judge = field(request, "judge", (str, type(None)))
        self.unload({})
        gc.collect()  # an earlier failure may still hold tensors
        if device.type == "cuda":
            torch.cuda.set_device(device)
        self.workload = Workload(path, device, overrides, seed,
                                 judge if device.type == "cuda" else None)
        return self.workload.describe()

    def sketch(self, request):
        return attempt(field(request, "path", str), field(request, "overrides", dict, {}),
                       whole(request, "init_seed", (1 << 63) - 1)), ()

    def inputs(self, request):
        seed, poison = whole(request, "seed", (1 << 63) - 1), pattern(request)
        case = field(request, "case", (str, type(None)))
        return {"inputs": self.loaded().begin(seed, signed(poison), case).specs}, ()

    def compare(self, request):
        work, poison = self.loaded(), pattern(request)
        slots = whole(request, "slots", work.slots, 1)
        if slots == 0:
            raise Fault("invalid", "op 'compare': there is nothing to compare in 0 slots")
        return work.compare(poison, slots), ()

    def mark(self, _request):
        return {"mark": self.loaded().mark()}, ()

    def mutants(self, request):
        work, case = self.loaded(), field(request, "case", (str, type(None)))
        names = field(request, "names", (list, type(None)))
        return work.mutants(whole(request, "seed", (1 << 63) - 1), case, names), ()

    def relation(self, request):
        return self.loaded().relation(field(request, "name", str),
                                      whole(request, "seed", (1 << 63) - 1)), ()

    def baselines(self, request):
        work = self.loaded()
        if work.device.type != "cuda":
            raise Fault("unsupported", "PyTorch's baselines are timed on a GPU only; this task"
                        " is loaded on the CPU")
        order = field(request, "order", list, [])
        kinds = order or field(request, "kinds", list, ["eager", "compile"])
        unknown = [k for k in kinds if not baseline.known(k)]
        if unknown:
            raise Fault("invalid", "op 'baselines': unknown kind %r (there are %s, and file:PATH)"
                        % (unknown[0], ", ".join(baseline.KINDS)))
        how = baseline.in_turn if order else baseline.measure
        return how(work, kinds, whole(request, "samples", 1 << 20),
                   field(request, "budget", (int, float)),
                   whole(request, "seed", (1 << 63) - 1)), ()

    def peek(self, request):
        what, index = field(request, "what", str), whole(request, "index", 1 << 31)
        start = whole(request, "offset", 1 << 62, 0)
        found = self.seen(what, index)
        if found is None:
            return {"none": True}, ()
        if not isinstance(found, torch.Tensor):
            return {"value": found}, ()
        values = found.reshape(-1)[start:start + whole(request, "count", 1 << 16, 8)]
        return {"shape": list(found.shape), "dtype": str(found.dtype)[6:],
                "numel": found.numel(), "values": [number(v) for v in values.tolist()]}, ()

    def python_open(self, request):
        sock = (request.get("fds") or [None])[0]
        if sock is None:
            raise Fault("invalid", "op 'python_open': a socket to the worker must come with it")
        return python_candidate.opened(self.loaded(), field(request, "name", str), sock,
                             {key: value for key, value in request.items() if key != "fds"}), ()

    def python_round(self, request):
        work, order = self.loaded(), field(request, "order", list)
        deadlines = field(request, "deadlines", dict)
        unknown = [n for n in order if n not in work.jailed or n not in deadlines]
        if unknown or not order:
            raise Fault("invalid", "op 'python_round': no worker '%s' with a deadline is open"
                        % (unknown or [""])[0])
        return python_candidate.play(work, order, whole(request, "seed", (1 << 63) - 1), pattern(request),
                           deadlines, field(request, "judged", list, order[:1]),
                           field(request, "case", (str, type(None)))), ()

    def python_close(self, request):
        found = self.loaded().jailed.pop(field(request, "name", str), None)
        if found is not None:
            found.close()
        return {}, ()

    def unload(self, _request):
        if self.workload is not None:
            self.workload.close()
        self.workload = None
        return {}, ()

    def loaded(self):
        if self.workload is None:
            raise Fault("invalid", "no task is loaded: send the op 'load' first")
        return self.workload

    def seen(self, what, index):
        """The tensor that a peek is about; `index` counts from 1."""
        work = self.loaded()
        if what not in ("inputs", "outputs", "reference", "eager"):
            raise Fault("invalid", "peek sees inputs, outputs, reference or eager, not '%s'" % what)
        trial = work.under_way()
        limit = len(trial.inputs if what == "inputs" else work.outputs)
        if not 1 <= index <= limit:
            raise Fault("invalid", "peek: there are %d %s, no number %d" % (
                limit, "inputs" if what == "inputs" else "outputs", index))
        if what == "inputs":
            return work.input_tensor(index - 1)
        if what == "outputs":
            return work.output(index - 1)
        if what == "eager":
            return work.runner.forward(trial.inputs, trial.seed)[index - 1][1]
        expected = trial.expected()[index - 1]
        return expected.reference.reshape(expected.shape)


# Fields of a request. JSON from C knows doubles only: 64.0 is 64, and numbers
# beyond 2^53 come as text.

def field(request, name, kind, default=None):
    value = request.get(name, default)
    if not isinstance(value, kind):
        raise Fault("invalid", "op '%s': the field '%s' must be %s, not %r"
                    % (request["op"], name, WORDS[kind], value))
    return value


WORDS = {str: "a string", (str, type(None)): "a string", (list, type(None)): "a list", bool: "true or false",
         dict: "an object", list: "a list", (int, float): "a number"}


def whole(request, name, largest, default=None):
    value = request.get(name, default)
    if isinstance(value, str) and re.fullmatch(r"\d+|0x[0-9a-fA-F]+", value):
        value = int(value, 0 if value.startswith("0x") else 10)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= largest:
        raise Fault("invalid", "op '%s': the field '%s' must be a whole number from 0 to %d,"
                    " not %r" % (request["op"], name, largest, value))
    return value


def pattern(request):
    return whole(request, "poison", (1 << 32) - 1)


# Devices

def open_device(name):
    if name == "cpu":
        return torch.device("cpu")
    if not re.fullmatch(r"cuda:\d+", name):
        raise Fault("invalid", "device '%s': the task host knows cpu and cuda:N" % name)
    count = torch.cuda.device_count()
    if int(name[5:]) >= count:
        raise Fault("missing", "device '%s': PyTorch %s sees %d GPUs%s" % (
            name, torch.__version__, count,
            "" if torch.version.cuda else " (it was built without CUDA)"))
    return torch.device(name)


def gpus():
    found = []
    for index in range(torch.cuda.device_count()):
        about = torch.cuda.get_device_properties(index)
        gpu = {"index": index, "name": about.name, "sm": about.major * 10 + about.minor}
        if hasattr(about, "uuid"):
            gpu["uuid"] = str(about.uuid)
        found.append(gpu)
    return found
