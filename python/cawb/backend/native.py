"""native: launches packages on a GPU, through libcawb_launcher.so (core/cuda/launcher): on PyTorch's current stream, in memory of its
caching allocator, without waiting."""
import ctypes
import functools
import os
import threading

import torch

from cawb.process import program

ALIGNED = 256        # bytes: where the kernels take tensors to begin, and where PyTorch's allocator begins them
ROOM = 512           # bytes of an error's words
U32, U64 = ctypes.c_uint32, ctypes.c_uint64


class Ref(ctypes.Structure):
    _fields_ = [("at", U64), ("tensor", U64), ("plus", U64)]


class Step(ctypes.Structure):
    _fields_ = [("kernel", ctypes.c_char_p), ("grid", U32 * 3), ("block", U32 * 3), ("cluster", U32 * 3), ("shared", U32),
                ("cooperative", U32), ("pattern", U32), ("args", ctypes.c_char_p), ("args_size", U64), ("refs", ctypes.POINTER(Ref)),
                ("nrefs", U64), ("tensor", U64), ("bytes", U64)]


@functools.lru_cache(None)
def library():
    """The launcher, or None where this build has none."""
    near = os.path.dirname(os.path.dirname(os.path.realpath(program())))
    path = os.environ.get("CAWB_LAUNCHER_LIBRARY") or os.path.join(near, "lib", "libcawb_launcher.so")
    if not os.path.exists(path):
        return None
    found = ctypes.CDLL(path)
    pointer, text = ctypes.c_void_p, ctypes.c_char_p
    found.cawb_launcher_new.argtypes = [ctypes.POINTER(pointer), text, ctypes.POINTER(Step), ctypes.c_size_t, text, ctypes.c_size_t]
    found.cawb_launcher_run.argtypes = [pointer, ctypes.c_size_t, ctypes.c_size_t, ctypes.c_int, pointer, ctypes.POINTER(U64), text,
                                        ctypes.c_size_t]
    found.cawb_launcher_counts.argtypes = [pointer, ctypes.POINTER(U64 * 3)]
    found.cawb_launcher_free.argtypes, found.cawb_launcher_free.restype = [pointer], None
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
                shared=int(about["shared"]), cooperative=int(about["cooperative"]), args=args, args_size=len(args),
                refs=ctypes.cast(refs, ctypes.POINTER(Ref)), nrefs=len(refs))


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
    return torch.cuda.current_device()


def stream_of(index):
    return torch._C._cuda_getCurrentRawStream(index)           # pylint: disable=protected-access


def is_capturing():
    return torch.cuda.is_current_stream_capturing()


def allocator(device):
    """f(size, strides, type): a tensor on the current device. Inductor's own, where PyTorch has it, takes a quarter of the time."""
    fast = getattr(torch._C._dynamo.guards, "_empty_strided_" + device.type, None)            # pylint: disable=protected-access
    return fast or (lambda size, stride, dtype: torch.empty_strided(size, stride, dtype=dtype, device=device))


def lie_there(tensors, places, numbers):
    """Whether the tensors of these numbers lie at these addresses."""
    return all(tensors[k].data_ptr() == places[k] for k in numbers)


lie_there = getattr(torch._C, "_tensors_data_ptrs_at_indices_equal", lie_there)             # pylint: disable=protected-access


def versions_of(tensors):
    """What changes when a parameter changes; None where nothing would."""
    try:
        return [t._version for t in tensors]                   # pylint: disable=protected-access
    except RuntimeError:                                       # tensors of inference mode have none
        return None


class Known:
    """Parameters as a call found them: a table of addresses by number; `odd` ones do not begin where kernels take tensors."""

    def __init__(self, params, numbers, count):
        self.places, self.all, self.table = [t.data_ptr() for t in params], list(range(len(params))), (U64 * count)()
        for i, at in zip(numbers, self.places):
            self.table[i] = at
        self.odd = [k for k, at in enumerate(self.places) if at % ALIGNED]

    def holds(self, params):
        return lie_there(params, self.places, self.all)


class Native:
    """A package on one GPU. `forms`: (size, strides, type) of each computed tensor."""

    def __init__(self, package, forms, chip, options):
        self.index, self.device, self.forms = chip.gpu, torch.device("cuda", chip.gpu), forms
        tensors, prepare, call = (package.export[name] for name in ("tensors", "prepare", "call"))
        self.table, self.steps, self.first = U64 * len(tensors), prepare + call, len(prepare)
        self.graph = int(0 < options.cuda_graph <= len(call))
        roles = {role: [i for i, t in enumerate(tensors) if t["role"] == role] for role in ("input", "param", "output", "scratch")}
        self.inputs, self.params, self.outputs = roles["input"], roles["param"], roles["output"]
        before, during, scratch = touched(prepare), touched(call), set(roles["scratch"])
        self.kept, self.kept_size = placed(tensors, scratch & before)
        self.scratch, self.scratch_size = placed(tensors, (scratch & during) - before)
        self.read = [k for k, i in enumerate(self.params) if i in before]
        self.known, self.prepared, self.lock, self.empty = None, {}, threading.Lock(), allocator(self.device)
        self.call, self.said = library().cawb_launcher_run, ctypes.create_string_buffer(ROOM)
        self.handle = self.loaded(package)

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

    def enqueue(self, first, count, graph, stream, addresses):
        if self.call(self.handle, first, count, graph, stream, addresses, self.said, ROOM):
            raise RuntimeError("cawb: %s" % self.said.value.decode())

    def run(self, inputs, params):
        """The computed tensors, in order."""
        if current_device() != self.index:
            with torch.cuda.device(self.index):
                return self.launched(inputs, params)
        return self.launched(inputs, params)

    def launched(self, inputs, params):
        known, held = self.known, []
        if known is None or not known.holds(params):
            known = self.known = Known(params, self.params, self.table._length_)           # pylint: disable=protected-access
        addresses = self.table.from_buffer_copy(known.table)
        for k in known.odd:
            held.append(aligned(params[k]))
            addresses[self.params[k]] = held[-1].data_ptr()
        for i, x in zip(self.inputs, inputs):
            at = x.data_ptr()
            if at % ALIGNED:
                held.append(aligned(x))
                at = held[-1].data_ptr()
            addresses[i] = at
        empty = self.empty
        if self.scratch:                            # first: results would take the place that the last call gave back
            held.append(empty((self.scratch_size,), (1,), torch.uint8))
            at = held[-1].data_ptr()
            for i, place in self.scratch:
                addresses[i] = at + place
        made = [empty(*form) for form in self.forms]
        for i, t in zip(self.outputs, made):
            addresses[i] = t.data_ptr()
        stream = stream_of(self.index)
        if self.first:
            held.append(self.prepare(params, known, stream, addresses))
        self.enqueue(self.first, len(self.steps) - self.first, self.graph, stream, addresses)
        return made                                 # until here nobody else may have the memory of `held`

    # ---- what parameters alone make up

    def prepare(self, params, known, stream, addresses):
        """Has it in memory: as it was made by an earlier call on this stream with the same parameters, or made now. A CUDA graph
        that is being captured gets its own, for it is executed again when parameters have changed. Returns that memory. The
        parameters are kept with it, so that nobody else gets their addresses."""
        capturing, read = is_capturing(), [params[k] for k in self.read]
        versions = None if capturing else versions_of(read)
        with self.lock:
            before = None if capturing else self.prepared.get(stream)
            room = before[2] if before else self.empty((max(1, self.kept_size),), (1,), torch.uint8)
            at = room.data_ptr()
            for i, place in self.kept:
                addresses[i] = at + place
            if before is None or versions is None or before[0] is not known or before[1] != versions:
                self.enqueue(0, self.first, 0, stream, addresses)
                if not capturing:
                    self.prepared[stream] = (known, versions, room, read)
        return room

    def counts(self):
        """How many graphs were made, nodes of them changed, and kernels started one by one."""
        found = (U64 * 3)()
        library().cawb_launcher_counts(self.handle, ctypes.byref(found))
        return list(found)


def aligned(tensor):
    return torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device=tensor.device).copy_(tensor)
