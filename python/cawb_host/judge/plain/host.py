"""The task host without PyTorch (`python3 python/cawb_host --plain`), for exercises: a task.py of few operators, small sizes,
inputs from a secret seed, and a reference in float64. It answers what cawb.verify and cawb.profile ask, and nothing else.
"""
import hashlib
import math
import mmap
import os
import platform
import re
import struct
import sys

from cawb_host.base.fault import Fault, blame
from cawb_host.judge.plain import tensors

ALIGNED, SMALLEST = 256, 4096


class Share:
    """Memory that the worker maps."""

    def __init__(self, size, label):
        self.size = max(size, SMALLEST)
        self.fd = os.memfd_create("cawb-" + label, os.MFD_CLOEXEC)
        os.ftruncate(self.fd, self.size)
        self.map = mmap.mmap(self.fd, self.size)

    def close(self):
        self.map.close()
        os.close(self.fd)


def placed(list_of):
    """How tensors lie in a share: the list of them for a reply, and the bytes of all."""
    specs, end = [], 0
    for t in list_of:
        size = math.prod(t.shape) * tensors.SIZES[t.dtype]
        strides = [math.prod(t.shape[k + 1:]) for k in range(len(t.shape))]
        specs.append({"dtype": t.dtype, "shape": list(t.shape), "strides": strides, "offset": end, "bytes": size})
        end = (end + size + ALIGNED - 1) // ALIGNED * ALIGNED
    return specs, end


class Task:
    """A task.py, run with the tensors of tensors.py."""

    def __init__(self, path, overrides):
        with open(path, "rb") as file:
            self.text = file.read()
        self.path, self.overrides = path, overrides

    def run(self, seed):
        """Inputs of a seed, and what forward makes of them."""
        place, before = tensors.module(seed), {name: sys.modules.get(name) for name in ("torch", "torch.nn")}
        sys.modules.update(place)
        try:
            with blame(self.path, "the task", 1):
                names = {"__name__": "task"}
                exec(compile(self.sized(), self.path, "exec"), names)  # pylint: disable=exec-used
                inputs = list(names["get_inputs"]())
                output = names["Model"](*names["get_init_inputs"]())(*inputs)
        finally:
            for name, module in before.items():
                if module is None:
                    del sys.modules[name]
                else:
                    sys.modules[name] = module
        return inputs, output

    def sized(self):
        """The text with its sizes replaced."""
        text = self.text.decode()
        for name, value in self.overrides.items():
            text = re.sub(r"(?m)^%s = .*$" % re.escape(name), "%s = %r" % (name, value), text)
        return text

    def about(self):
        constants = {name: int(value) for name, value in re.findall(r"(?m)^(\w+) = (\d+)$", self.sized())}
        return {"constants": constants, "forbidden": [], "forward_line": 1, "judged_at": [], "name": "task", "path": self.path,
                "source_sha256": hashlib.sha256(self.text).hexdigest()}


def errors(got, want, rms):
    """Statistics of errors; NaN comes out as NaN, which no limit allows."""
    off = [abs(g - w) for g, w in zip(got, want)]
    count = max(1, len(off))
    squares = sum(e * e for e in off)
    worst = max(range(len(off)), key=lambda i: (off[i] != off[i], off[i]))
    return {"worst": off[worst], "nrms": math.sqrt(squares / count) / rms if rms else math.sqrt(squares / count),
            "bias": sum(g - w for g, w in zip(got, want)) / count / rms if rms else 0.0}, worst, off[worst]


def finite(value):
    return value if math.isfinite(value) else None


class Host:
    def __init__(self):
        self.task, self.shares = None, []

    def hello(self, _request):
        return {"python": platform.python_version(), "executable": sys.executable, "torch": "none", "gpus": [], "threads": 1}, ()

    def load(self, request):
        self.unload({})
        self.task = Task(request["path"], request.get("overrides", {}))
        self.inputs_now, self.output = self.task.run(0)
        self.specs, size = placed(self.inputs_now)
        out_specs, out_size = placed([self.output])
        self.shares = [Share(0, "params"), Share(size, "inputs"), Share(out_size, "outputs")]
        shares = {name + "_share": {"size": share.size} for name, share in zip(("params", "inputs", "outputs"), self.shares)}
        reply = {"alters": [], "constant": False, "density": {"inputs": [1.0] * len(self.specs), "params": {}}, "deterministic": True,
                 "graph": [], "inputs": self.specs, "memory": {"bases": [], "operators": [], "results": []}, "notes": [],
                 "outputs": out_specs, "outputs_stride": self.shares[2].size, "param_count": 0, "params": [], "places": 1, "random": False,
                 "relations": {"found": {}, "why": {}}, "slots": 1, "sources": ["op:1"], "task": self.task.about()}
        return dict(reply, **shares), tuple(share.fd for share in self.shares)

    def unload(self, _request):
        for share in self.shares:
            share.close()
        self.task, self.shares = None, []
        return {}, ()

    def inputs(self, request):
        if request.get("case"):
            return {"inputs": [], "refused": "without PyTorch there are the task's own inputs alone"}, ()
        self.inputs_now, self.output = self.task.run(request["seed"])
        memory, outputs = self.shares[1].map, self.shares[2].map
        for spec, tensor in zip(self.specs, self.inputs_now):
            memory[spec["offset"]:spec["offset"] + spec["bytes"]] = tensors.packed(tensor.values, tensor.dtype)
        outputs[:] = struct.pack("<I", request["poison"]) * (len(outputs) // 4)
        return {"inputs": self.specs}, ()

    def compare(self, request):
        memory = self.shares[1].map
        changed = ["inputs[%d]" % (k + 1) for k, (spec, t) in enumerate(zip(self.specs, self.inputs_now))
                   if memory[spec["offset"]:spec["offset"] + spec["bytes"]] != tensors.packed(t.values, t.dtype)]
        entry = self.entry(request["poison"])
        return {"changed": changed, "outputs": [entry], "slots": [[entry]], "reference": "float64"}, ()

    def entry(self, poison):
        """The output against the reference; PyTorch's error is taken to be that of rounding the reference."""
        want, dtype, shape = self.output.values, self.output.dtype, self.output.shape
        width = tensors.SIZES[dtype]
        data = bytes(self.shares[2].map[:len(want) * width])
        pattern = struct.pack("<I", poison)
        # A half of a word may hold poison's by chance.
        unwritten = 4 // width * sum(data[i:i + 4] == pattern for i in range(0, len(data), 4))
        got = tensors.unpacked(data, dtype)
        scale, rms = max(map(abs, want)), math.sqrt(sum(w * w for w in want) / len(want))
        own, at, error = errors(got, want, rms)
        eager = errors(tensors.rounded(want, dtype), want, rms)[0]
        row = {"index": 0, "rows": 1}
        place = {"index": [at] if len(shape) == 1 else [at // shape[1], at % shape[1]], "want": want[at]}
        place.update({key: value for key, value in (("got", finite(got[at])), ("error", finite(error))) if value is not None})
        nan = sum(g != g for g in got)
        entry = {"dtype": dtype, "shape": list(shape), "numel": len(want), "nan": nan, "nan_missing": 0, "unwritten": unwritten,
                 "inf_mismatch": sum(math.isinf(g) for g in got), "scale": scale, "rms": rms, "zeros": 0, "odd": 0,
                 "worst": place, "eager": dict(eager, worst_row=dict(row, nrms=eager["nrms"]))}
        if not nan and not entry["inf_mismatch"]:
            entry.update(nrms=own["nrms"], bias=own["bias"], worst_row=dict(row, nrms=own["nrms"]))
        return entry

    def __getattr__(self, name):
        def refuse(_request):
            raise Fault("unsupported", "without PyTorch there is no '%s'" % name)
        return refuse
