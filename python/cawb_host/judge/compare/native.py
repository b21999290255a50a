"""The statistics of reference.py and terms.py on a processor, made by native.c in one pass; in PyTorch's words without it.

open_library() is told where the library lies; as long as nobody has, and for tensors that it does not read, takes() is
false. Results are PyTorch's but for the rounding of their sums.
"""
import ctypes

import torch

from cawb_host.base.fault import Fault

PARTS = 95                  # as in native.h
LITTLE = 1 << 17            # elements


TYPES = {"real": ctypes.c_double, "whole": ctypes.c_int64, "parts": ctypes.c_double * PARTS}


def record(name, **fields):
    """A structure of these fields, named by type."""
    listed = [(field, TYPES[kind]) for kind, names in fields.items() for field in names.split()]
    return type(name, (ctypes.Structure,), {"_fields_": listed})


Scale = record("Scale", real="scale", whole="zeros")
Job = record("Job", whole="rows cols", real="scale rms far zero_size")
Errors = record("Errors", real="square sum worst close", whole="worst_at far")
Look = record("Look", real="worst square own row", whole="row_at far", parts="squares counts")

_library = None


def open_library(path):
    """Uses the library at this path from now on; None: no library."""
    global _library     # pylint: disable=global-statement
    try:
        _library = ctypes.CDLL(path) if path else None
    except OSError as error:
        raise Fault("missing", "cannot load %s (./bootstrap builds it): %s" % (path, error)) from None


def takes(*tensors):
    """Whether the library reads them: matrices without gaps in the memory of this process."""
    return _library is not None and all(
        t.device.type == "cpu" and t.dtype in (torch.float32, torch.float64) and t.is_contiguous() for t in tensors)


def fetches(tensor):
    """Whether to fetch a tensor from a GPU for the library: some dozens of launches, and waiting for their results, take
    longer than copying a little."""
    return _library is not None and tensor.is_cuda and tensor.numel() <= LITTLE and tensor.dtype in (torch.float32, torch.float64)


def at(tensor):
    return ctypes.c_void_p(tensor.data_ptr())


def call(name, out, *rest):
    """Calls a function of the library for an output; returns its result."""
    found = rest[-1]
    getattr(_library, name)(at(out), int(out.dtype == torch.float64), *rest[:-1], ctypes.byref(found))
    return found


def reference(ref):
    """(squares of rows, finite elements of rows, found) of a matrix."""
    found, sums = Scale(), torch.empty(2, ref.shape[0], dtype=torch.float64)
    _library.cawb_native_reference(at(ref), ctypes.c_int64(ref.shape[0]), ctypes.c_int64(ref.shape[1]), at(sums[0]), at(sums[1]),
                                   ctypes.byref(found))
    return sums[0], sums[1], found


def errors(out, ref, far, zero_size):
    """(squared errors of rows, found)."""
    rows, job = torch.empty(ref.shape[0], dtype=torch.float64), Job(*ref.shape, far=far, zero_size=zero_size)
    return rows, call("cawb_native_errors", out, at(ref), ctypes.byref(job), at(rows), Errors())


def look(out, ref, sizes, about):
    """Errors beside the sizes of terms; `about` has scale, rms and far_above."""
    job = Job(*ref.shape, scale=about.scale, rms=about.rms, far=about.far_above)
    return call("cawb_native_look", out, at(ref), at(sizes), ctypes.byref(job), Look())
