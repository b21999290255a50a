"""calls: functions of a package that execute no line of Python (core/cuda/launcher/call.h): what they are told, as the library takes it."""
import ctypes
import functools
import os

import torch

NONE = 2 ** 64 - 1           # of an argument that no kernel takes
MADE, ARGUMENT, OBJECT = range(3)
U64, I64, OBJECT_OF = ctypes.c_uint64, ctypes.c_int64, ctypes.py_object
SHIM = ("data_ptr", "dim", "sizes", "strides")


class Place(ctypes.Structure):
    _fields_ = [("tensor", U64), ("plus", U64)]


class Form(ctypes.Structure):
    _fields_ = [("arg", U64), ("dims", U64), ("size", ctypes.POINTER(I64)), ("stride", ctypes.POINTER(I64))]


class Result(ctypes.Structure):
    _fields_ = [("kind", U64), ("number", U64), ("object", OBJECT_OF)]


class Torch(ctypes.Structure):
    _fields_ = [("offset", U64)] + [(name, ctypes.c_void_p) for name in SHIM]


class About(ctypes.Structure):
    _fields_ = [("launcher", ctypes.c_void_p)] + [(name, U64) for name in ("first", "count", "graph", "alignment", "device", "ntensors", "nargs",
                                                                           "nread", "nmade", "nscratch", "nkept", "nloose", "nresults")]
    _fields_ += [(name, ctypes.POINTER(U64)) for name in ("table", "args", "read", "made")]
    _fields_ += [(name, ctypes.POINTER(Place)) for name in ("scratch", "kept")]
    _fields_ += [("loose", ctypes.POINTER(Form)), ("results", ctypes.POINTER(Result)), ("torch", ctypes.POINTER(Torch))]
    _fields_ += [(name, OBJECT_OF) for name in ("forms", "scratch_form", "kept_form", "empty", "current_device", "stream_of", "device_number",
                                                "elsewhere", "aligned", "asked")]


def word(at):
    return ctypes.c_uint64.from_address(at).value


@functools.lru_cache(None)
def shim():
    """PyTorch's C interface, for tensors where they lie in their Python objects: the place is found by looking, in two of them."""
    one, two, found = torch.empty(1), torch.nn.Parameter(torch.empty(2)), Torch()
    places = [at for at in (16, 24, 32) if all(word(id(t) + at) == t._cdata for t in (one, two))]             # pylint: disable=protected-access
    path = os.path.join(os.path.dirname(torch.__file__), "lib", "libtorch_cpu.so")
    if places and os.path.exists(path):
        functions = [getattr(ctypes.CDLL(path), "aoti_torch_get_" + name, None) for name in SHIM]
        if all(functions):
            found = Torch(places[0], *[ctypes.cast(f, ctypes.c_void_p) for f in functions])
    return found


def array(kind, values):
    return (kind * max(1, len(values)))(*values)


def form(arg, size, stride):
    return Form(arg, len(size), array(I64, size), array(I64, stride))


class Call:
    """`library`: by ctypes.PyDLL. `about`: fields of About, sequences with their counts left out. `owner` lives as long as any function."""

    def __init__(self, library, owner, about):
        arrays = {name: array(kind, about[name]) for name, kind in (
            ("table", U64), ("args", U64), ("read", U64), ("made", U64), ("scratch", Place), ("kept", Place), ("loose", Form), ("results", Result))}
        counts = {"n" + name: len(about[name]) for name in ("args", "read", "made", "scratch", "kept", "loose", "results")}
        self.library, self.about = library, About(**{**about, **counts, **arrays, "ntensors": len(about["table"]), "torch": ctypes.pointer(shim())})
        self.keep, self.capsule = (owner, self.about), library.cawb_call_new(self.about)
        self.run = library.cawb_call_run(self.capsule, self.keep)

    def entry(self, other):
        """A function that calls the package where it was chosen, and else `other`."""
        return self.library.cawb_call_entry(self.capsule, other, self.keep)

    def choose(self, settings):
        """While settings are these; None: not any more."""
        self.library.cawb_call_choose(self.capsule, settings is not None, settings)


def bind(library):
    """Names the types of the functions of a ctypes.PyDLL."""
    library.cawb_call_new.argtypes, library.cawb_call_new.restype = [ctypes.POINTER(About)], OBJECT_OF
    library.cawb_call_run.argtypes, library.cawb_call_run.restype = [OBJECT_OF] * 2, OBJECT_OF
    library.cawb_call_entry.argtypes, library.cawb_call_entry.restype = [OBJECT_OF] * 3, OBJECT_OF
    library.cawb_call_choose.argtypes = [OBJECT_OF, ctypes.c_int, OBJECT_OF]
    return library
