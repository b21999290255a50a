"""native: launches packages on a GPU, through libcawb_launcher.so (core/cuda/launcher): on PyTorch's current stream, in memory of its
caching allocator, without waiting."""
import ctypes
import functools
import os

import torch
from torch.utils._python_dispatch import _disable_current_modes

from cawb.backend import calls, packages
from cawb.process import program

ALIGNED = 256        # bytes: where the kernels take tensors to begin, and where PyTorch's allocator begins them
ROOM = 512           # bytes of an error's words
U32, U64 = ctypes.c_uint32, ctypes.c_uint64


class Ref(ctypes.Structure):
    _fields_ = [("at", U64), ("tensor", U64), ("plus", U64)]


class Step(ctypes.Structure):
    _fields_ = [("kernel", ctypes.c_char_p), ("grid", U32 * 3), ("block", U32 * 3), ("cluster", U32 * 3), ("shared", U32),
                ("cooperative", U32), ("dependent", U32), ("pattern", U32), ("args", ctypes.c_char_p), ("args_size", U64),
                ("refs", ctypes.POINTER(Ref)), ("nrefs", U64), ("tensor", U64), ("bytes", U64)]


@functools.lru_cache(None)
def library():
    """The launcher, or None where this build has none."""
    near = os.path.dirname(os.path.dirname(os.path.realpath(program())))
    path = os.environ.get("CAWB_LAUNCHER_LIBRARY") or os.path.join(near, "lib", "libcawb_launcher.so")
    if not os.path.exists(path):
        return None
    found = calls.bind(ctypes.PyDLL(path))
    pointer, text = ctypes.c_void_p, ctypes.c_char_p
    found.cawb_launcher_new.argtypes = [ctypes.POINTER(pointer), text, ctypes.POINTER(Step), ctypes.c_size_t, text, ctypes.c_size_t]
    found.cawb_launcher_counts.argtypes = [pointer, ctypes.POINTER(U64 * 4)]
    return found


def three(values):
    return (U32 * 3)(*[max(1, int(v)) for v in values])


def step_of(about):
    """A step of a package's plan as the library takes it."""
    if about["kind"] == "fill":
        return Step(tensor=int(about["tensor"]), bytes=int(about["bytes"]), pattern=int(about["pattern"]), cluster=three([1, 1, 1]))
    refs = (Ref * len(about["refs"]))(*[Ref(*map(int, ref)) for ref in about["refs"]])
    args = bytes.fromhex(about["args"])
    return Step(kernel=about["kernel"].encode(), grid=three(about["grid"]), block=three(about["block"]), cluster=three(about["cluster"]),
                shared=int(about["shared"]), cooperative=int(about["cooperative"]), dependent=int(about.get("dependent", False)),
                args=args, args_size=len(args), refs=ctypes.cast(refs, ctypes.POINTER(Ref)), nrefs=len(refs))


def touched(steps):
    """Numbers of the tensors that steps read or write."""
    return {int(s["tensor"]) for s in steps if s["kind"] == "fill"} | {int(ref[1]) for s in steps for ref in s.get("refs", ())}


def placed(tensors, numbers):
    """(number, place) in one allocation for each of these tensors, and its size in bytes."""
    places, size = [], 0
    for i in sorted(numbers):
        places.append((i, size))
        size += (int(tensors[i]["bytes"]) + ALIGNED - 1) // ALIGNED * ALIGNED
    return places, size


# ---- what PyTorch knows of the GPU

def current_device():
    return torch._C._cuda_getDevice                            # pylint: disable=protected-access


def stream_of():
    """f(number of a device): PyTorch's current stream there."""
    return torch._C._cuda_getCurrentRawStream                  # pylint: disable=protected-access


def allocator(device):
    """f(size, strides, type): a tensor on the current device. Inductor's own, where PyTorch has it, takes a quarter of the time."""
    fast = getattr(torch._C._dynamo.guards, "_empty_strided_" + device.type, None)            # pylint: disable=protected-access
    return fast or (lambda size, stride, dtype: torch.empty_strided(size, stride, dtype=dtype, device=device))


class Native:
    """A package on one GPU. `forms`: (size, strides, type) of each computed tensor; `given`: what the graph's arguments and results are to
    it (part.py's Given). `run(*args)`: the results; `entry(other)`: a function that does so where that was chosen."""

    def __init__(self, package, forms, chip, options, given):
        self.index, self.device = chip.gpu, torch.device("cuda", chip.gpu)
        tensors, prepare, call = (package.export[name] for name in ("tensors", "prepare", "call"))
        self.steps, before, during = prepare + call, touched(prepare), touched(call)
        roles = {role: [i for i, t in enumerate(tensors) if t["role"] == role] for role in ("input", "param", "output", "scratch")}
        numbers = [roles[place[0]][place[1]] if place else calls.NONE for place in given.places]
        kept, kept_size = placed(tensors, set(roles["scratch"]) & before)
        scratch, scratch_size = placed(tensors, (set(roles["scratch"]) & during) - before)
        table, self.constants = [0] * len(tensors), [self.there(t) for t in given.constants]
        for number, t in zip(numbers[given.count:], self.constants):
            table[number] = t.data_ptr()
        args = numbers[:given.count]
        read = [k for k, number in enumerate(args) if number in before]
        handle = self.loaded(package)
        self.call = calls.Call(library(), self, {
            "launcher": handle, "first": len(prepare), "count": len(call), "graph": int(0 < options.cuda_graph <= len(call)),
            "alignment": ALIGNED, "device": self.index, "device_number": self.index, "table": table, "args": args, "read": read,
            "made": roles["output"], "forms": tuple(forms), "scratch": scratch, "scratch_form": room_of(scratch_size), "kept": kept,
            "kept_form": room_of(kept_size), "loose": [calls.form(i, *form) for i, form in given.loose], "results": given.results,
            "empty": allocator(self.device), "current_device": current_device(), "stream_of": stream_of(), "elsewhere": self.elsewhere,
            "aligned": aligned, "asked": packages.ASKED})
        self.handle, self.run, self.entry, self.choose = handle, self.call.run, self.call.entry, self.call.choose
        self.checks = not given.loose or calls.shim().offset > 0            # whether an entry sees forms that nobody guards

    def there(self, tensor):
        """A tensor of the graph's own, where kernels take it: Dynamo leaves a number that a graph writes on the processor. While a graph is
        compiled, PyTorch's modes would make a tensor without data of the copy."""
        with _disable_current_modes():
            tensor = tensor.to(self.device)
            return tensor if tensor.data_ptr() % ALIGNED == 0 else aligned(tensor)

    def loaded(self, package):
        cubin = package.path("kernel.cubin")
        with open(cubin if os.path.exists(cubin) else package.path("kernel.ptx"), "rb") as file:
            image = file.read() + b"\0"
        self.held = (Step * max(1, len(self.steps)))(*map(step_of, self.steps))
        self.image, handle, said = image, ctypes.c_void_p(), ctypes.create_string_buffer(ROOM)
        with torch.cuda.device(self.index):
            torch.cuda.current_stream(self.index)           # the context exists from here on
            if library().cawb_launcher_new(ctypes.byref(handle), image, self.held, len(self.steps), said, ROOM):
                raise RuntimeError("cawb: %s" % said.value.decode())
        return handle

    def elsewhere(self, *args):
        """A call while another device is the current one."""
        with torch.cuda.device(self.index):
            return self.run(*args)

    def counts(self):
        """How many graphs were made, nodes of them changed, and kernels started one by one; how many of these and of the nodes begin early."""
        found = (U64 * 4)()
        library().cawb_launcher_counts(self.handle, ctypes.byref(found))
        return list(found)


def room_of(size):
    """Arguments of an allocator for so many bytes."""
    return (max(1, size),), (1,), torch.uint8


def aligned(tensor):
    return torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device=tensor.device).copy_(tensor)
