"""The operations: calls the workload and shapes replies.

Every operation takes a request that was held to core/base/protocol/host.json and returns (reply,
file descriptors).
"""
import importlib
import os
import platform
import re
import sys
from importlib import metadata

import torch

from cawb_host.judge.time import baseline, kernels
from cawb_host.judge.candidate import python_candidate
from cawb_host.base.fault import Fault, Refused, one_line
from cawb_host.base.garbage import Garbage
from cawb_host.judge.compare.picture import drawn
from cawb_host.judge.compare.reference import signed
from cawb_host.judge.task.sketch import attempt
from cawb_host.judge.task.source import forget
from cawb_host.base.tensors import number
from cawb_host.judge.workload import Workload


def synthesis():
    return importlib.import_module("cawb_host.learn.service")


def version_of(package):
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def path_of(request, name="path"):
    """The path that a request names: any bytes, as Python has them."""
    path = request[name]
    return os.fsdecode(bytes.fromhex(path[4:])) if path.startswith("hex:") else path


class Host:
    def __init__(self):
        self.workload, self.garbage = None, Garbage()
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
        """Work that takes seconds once, ahead of any task: the context on a GPU, the handles of products,
        and with `compile` torch.compile's imports and processes, of which there are `threads` where it is given."""
        device = open_device(request["device"])
        if device.type == "cuda":
            torch.cuda.set_device(device)
            for dtype in (torch.float32, torch.float64):
                one = torch.ones(1, 1, dtype=dtype, device=device)
                torch.mm(one, one)
            torch.cuda.synchronize()
            if request.get("compile", False):
                baseline.warm(device, request.get("threads"))
        return {}, ()

    def ahead(self, request):
        """Lets torch.compile build its kernels for this task before the GPU is free: see baselines/ahead.py."""
        ahead = importlib.import_module("cawb_host.judge.time.ahead")
        why = ahead.compile_ahead(path_of(request), request.get("overrides", {}), request["init_seed"],
                                  open_device(request["device"]), request.get("kinds", ["compile"]),
                                  path_of(request, "lock") if "lock" in request else None)
        return ({"why": why} if why else {}), ()

    def load(self, request):
        device = open_device(request["device"])
        self.unload({})
        forget()
        self.garbage.collect()
        if device.type == "cuda":
            torch.cuda.set_device(device)
        self.workload = Workload(path_of(request), device, request.get("overrides", {}),
                                 request["init_seed"], request.get("judge"), request.get("weights_seed"), request.get("native"))
        return self.workload.describe()

    def sketch(self, request):
        return attempt(path_of(request), request.get("overrides", {}), request["init_seed"],
                       open_device(request.get("device", "cpu"))), ()

    def inputs(self, request):
        try:
            trial = self.loaded().begin(request["seed"], signed(request["poison"]), request.get("case"))
        except Refused as refused:
            return {"inputs": [], "refused": one_line(refused)}, ()
        return {"inputs": trial.specs, "level": trial.level}, ()

    def compare(self, request):
        work, slots = self.loaded(), request.get("slots", 1)
        if slots > work.slots:
            raise Fault("invalid", "op 'compare': the task has %d slots, not %d" % (work.slots, slots))
        return work.compare(request["poison"], slots), ()

    def mark(self, _request):
        return {"mark": self.loaded().mark()}, ()

    def mutants(self, request):
        return self.loaded().mutants(request["seed"], request.get("case"), request.get("names")), ()

    def relation(self, request):
        return self.loaded().relation(request["name"], request["seed"]), ()

    def baselines(self, request):
        work, kinds, other = self.rivals(request, request.get("kinds", ["eager", "compile"]))
        how = baseline.in_turn if request.get("order") else baseline.measure
        return how(work, kinds, request["samples"], request["budget"], request["seed"], other), ()

    def set_up(self, request):
        """What baselines need before they can be timed, which disturbs who is timed less than it takes."""
        work, kinds, other = self.rivals(request, [])
        return {"kinds": baseline.set_up(work, kinds, request["seed"], other)}, ()

    def rivals(self, request, kinds):
        """The task, the kinds of baselines in an `order`, or these, and the seed and the kind of their second inputs."""
        work = self.loaded()
        if work.device.type != "cuda":
            raise Fault("unsupported", "PyTorch's baselines are timed on a GPU only; this task"
                        " is loaded on the CPU")
        kinds = request.get("order", []) or kinds
        unknown = [k for k in kinds if not baseline.known(k)]
        if unknown:
            raise Fault("invalid", "unknown kind of baseline %r (there are %s, and file:PATH)"
                        % (unknown[0], ", ".join(baseline.KINDS)))
        return work, kinds, (request["other"], request["case"]) if "other" in request and "case" in request else None

    def kernels(self, request):
        work, kind = self.loaded(), request["kind"]
        if work.device.type != "cuda":
            raise Fault("unsupported", "PyTorch's kernels are seen on a GPU only; this task is loaded on the CPU")
        if not baseline.known(kind):
            raise Fault("invalid", "op 'kernels': unknown kind %r (there are %s, and file:PATH)" % (kind, ", ".join(baseline.KINDS)))
        about = baseline.attempt(work, kind, 1, 0, request["seed"])
        if "failed" in about:
            return {"failed": about["failed"]}, ()
        return {"kernels": kernels.traced(work.baselines[kind], request["calls"])}, ()

    def room(self, _request):
        return self.loaded().make_room(), ()

    def peek(self, request):
        found, start = self.seen(request["what"], request["index"]), request.get("offset", 0)
        if found is None:
            return {"none": True}, ()
        if not isinstance(found, torch.Tensor):
            return {"value": found}, ()
        values = found.reshape(-1)[start:start + request.get("count", 8)]
        return {"shape": list(found.shape), "dtype": str(found.dtype)[6:],
                "numel": found.numel(), "values": [number(v) for v in values.tolist()]}, ()

    def picture(self, request):
        got, wanted = self.seen("outputs", request["index"]), self.seen("reference", request["index"])
        return drawn(got, wanted, request["rows"], request["columns"]), ()

    def python_open(self, request):
        sock = (request["fds"] or [None])[0]
        if sock is None:
            raise Fault("invalid", "op 'python_open': a socket to the worker must come with it")
        return python_candidate.opened(self.loaded(), request["name"], sock,
                             {key: value for key, value in request.items() if key != "fds"}), ()

    def python_round(self, request):
        work, order, deadlines = self.loaded(), request["order"], request["deadlines"]
        unknown = [n for n in order if n not in work.jailed or n not in deadlines]
        if unknown or not order:
            raise Fault("invalid", "op 'python_round': no worker '%s' with a deadline is open"
                        % (unknown or [""])[0])
        return python_candidate.play(work, order, request["seed"], request["poison"], deadlines,
                           request.get("judged", order[:1]), request.get("case")), ()

    def python_work(self, request):
        found = self.loaded().jailed.get(request["name"])
        return (found.work_seen.told() if found else {"means": [], "lost": 0, "seen": []}), ()

    def python_shared(self, _request):
        return {"longest": python_candidate.shared(self.loaded())}, ()

    def python_close(self, request):
        found = self.loaded().jailed.pop(request["name"], None)
        if found is not None:
            found.close()
        return {}, ()

    # Synthesis of tasks. Its rooms are imported by its first request: no judge needs them.

    def synth_seeds(self, request):
        return synthesis().seeds(request), ()

    def synth_names(self, request):
        return synthesis().names(request), ()

    def synth_draw(self, request):
        return synthesis().drawn(request), ()

    def synth_examine(self, request):
        return synthesis().examined(request, path_of(request)), ()

    def synth_times(self, request):
        device = open_device(request["device"])
        if device.type != "cuda":
            raise Fault("unsupported", "op 'synth_times': PyTorch is timed on a GPU only, not on '%s'" % request["device"])
        self.unload({})
        return synthesis().timed_on(request, path_of(request), device), ()

    def synth_nearest(self, request):
        return synthesis().nearest(request), ()

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
