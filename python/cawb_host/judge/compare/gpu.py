"""Launches the kernels of judge.cu: outputs against references, hashes of memory.

Nothing here waits for the device. Results are tensors of 8-byte numbers; a
Readback brings any number of them to the host in one transfer.
"""
import ctypes
import os
import struct

import torch

from cawb_host.base.fault import Fault
from cawb_host.judge.compare.reference import is_nan
from cawb_host.base.shared_memory import check, driver

# As in judge.cu.
THREADS, WARPS, AHEAD, TALLIES, FIELDS, ABOUT = 256, 8, 8, 13, 16, 8
(SQUARE, SUM, FAR, NANS, MISSING, INFINITE, UNWRITTEN, WORST, WORST_AT, ROW, ROW_AT, FIRST, CLOSE,
 GOT, WANT) = range(15)
RMS, SCALE, ZEROS, FINITE = 0, 1, 2, 5
NONE = 1e18

PART = 4096              # elements of a row that one team of threads takes at a time
MOST_PARTS = 1 << 14     # of one row; longer rows have longer parts
MOST_BLOCKS = 1024       # of a launch, and so partial results of a slot

# From this magnitude on a float64 becomes infinite in the dtype: its largest number
# and half a unit in the last place.
LIMIT = {torch.float16: 65520.0, torch.bfloat16: float.fromhex("0x1.ffp127"),
         torch.float32: float.fromhex("0x1.ffffffp127"), torch.float64: float("inf")}


class Job(ctypes.Structure):
    _fields_ = [(name, kind) for names, kind in (
        ("out stride reference rows cols parts part lanes about row_rms", ctypes.c_int64),
        ("limit far", ctypes.c_double), ("poison finite", ctypes.c_uint64),
        ("pieces partial partials base result", ctypes.c_int64)) for name in names.split()]


class Bytes(ctypes.Structure):
    _fields_ = [("at", ctypes.c_int64), ("size", ctypes.c_int64), ("key", ctypes.c_uint64),
                ("result", ctypes.c_int64)]


class Judge:
    """The loaded kernels, on the device that is PyTorch's current one."""

    def __init__(self, path, device):
        self.device, self.functions = device, {}
        self.key = struct.unpack("<Q", os.urandom(8))[0]
        self.load(path)

    def load(self, path):
        self.module = ctypes.c_void_p()
        try:
            with open(path, "rb") as file:
                image = file.read()
            check(driver().cuModuleLoadData(ctypes.byref(self.module), image), "cuModuleLoadData")
        except (OSError, RuntimeError) as error:
            raise Fault("invalid", "the judge's kernels in %s cannot be loaded (%s); compile"
                        " judge.cu for this GPU" % (path, error)) from None

    def close(self):
        if self.module:
            driver().cuModuleUnload(self.module)
        self.module, self.functions = None, {}

    def function(self, name):
        if name not in self.functions:
            found = ctypes.c_void_p()
            check(driver().cuModuleGetFunction(ctypes.byref(found), self.module, name.encode()),
                  "cuModuleGetFunction of " + name)
            self.functions[name] = found
        return self.functions[name]

    def launch(self, name, blocks, slots, argument):
        """On PyTorch's stream, like its own operators."""
        stream = torch._C._cuda_getCurrentRawStream(self.device.index)
        arguments = (ctypes.c_void_p * 1)(ctypes.addressof(argument))
        check(driver().cuLaunchKernel(self.function(name), blocks, slots, 1, THREADS, 1, 1, 0,
                                      ctypes.c_void_p(stream), arguments, None),
              "cuLaunchKernel of " + name)

    def address(self, tensor):
        return tensor.data_ptr()

    def empty(self, *shape):
        return torch.empty(shape, dtype=torch.float64, device=self.device)

    def reference(self, reference):
        """(about, row_rms) of a matrix of float64."""
        rows, cols = reference.shape
        about, row_rms = self.empty(ABOUT), self.empty(rows)
        job, pieces = divided(rows, cols)
        partial, parts = self.empty(pieces, TALLIES), self.empty(2 if job.parts > 1 else 0,
                                                                 rows * job.parts)
        job.reference, job.partials = self.address(reference), pieces
        job.about, job.row_rms = self.address(about), self.address(row_rms)
        job.partial, job.pieces = self.address(partial), self.address(parts)
        self.launch("reference_pieces", pieces, 1, job)
        if job.parts > 1:
            self.launch("reference_rows", blocks_for(rows), 1, job)
        self.launch("reference_finish", 1, 1, job)
        return about, row_rms

    def compare(self, outs, dtype, reference, known, far, poison=None):
        """A row of FIELDS for each row of `outs`, whose first bytes are the elements. `known` is the result of reference().
        Without a poison UNWRITTEN has no meaning."""
        (rows, cols), slots, name = reference.shape, outs.shape[0], str(dtype)[6:]
        job, pieces = divided(rows, cols)
        extra = blocks_for(rows) if job.parts > 1 else 0
        result, partial = self.empty(slots, FIELDS), self.empty(slots, pieces + extra, TALLIES)
        parts = self.empty(slots if extra else 0, rows * job.parts)
        job.out, job.stride, job.reference = self.address(outs), outs.stride(0), \
            self.address(reference)
        job.about, job.row_rms = self.address(known[0]), self.address(known[1])
        job.limit, job.far, job.partials = LIMIT[dtype], far, pieces + extra
        job.poison, job.finite = twice(poison or 0), poison is None or not is_nan(poison, dtype)
        job.pieces, job.partial, job.result = map(self.address, (parts, partial, result))
        self.launch("judge_" + name, pieces, slots, job)
        if extra:
            job.base = pieces
            self.launch("judge_rows", extra, slots, job)
        self.launch("finish_" + name, 1, slots, job)
        return result

    def exact(self, outs, reference, other, poison):
        """The same for integers and bools: FAR of them equal neither, from FIRST on."""
        slots, count = outs.shape[0], reference.numel()
        blocks = min(MOST_BLOCKS, (count + THREADS - 1) // THREADS)
        result, partial = self.empty(slots, FIELDS), self.empty(slots, blocks, TALLIES)
        job = Job(rows=1, cols=count, out=self.address(outs), stride=outs.stride(0),
                  reference=self.address(reference), poison=twice(poison), partials=blocks,
                  about=0 if other is None else self.address(other),
                  partial=self.address(partial), result=self.address(result))
        self.launch("exact_%d" % reference.element_size(), blocks, slots, job)
        self.launch("exact_finish", 1, slots, job)
        return result

    def hash(self, tensor):
        """64 bits that depend on every byte of a contiguous tensor and on its place."""
        result = torch.zeros(1, dtype=torch.int64, device=self.device)
        size = tensor.numel() * tensor.element_size()
        if size > 0:
            blocks = min(MOST_BLOCKS, (size + 64 * THREADS - 1) // (64 * THREADS))
            self.launch("hash_bytes", blocks, 1, Bytes(self.address(tensor), size, self.key,
                                                       self.address(result)))
        return result


def divided(rows, cols):
    """A job with rows cut into parts, and how many blocks take them."""
    part = max(PART, -(-cols // MOST_PARTS))
    parts = -(-cols // part)
    lanes = min(32, 1 << (-(-cols // AHEAD) - 1).bit_length())
    teams = THREADS // lanes
    job = Job(rows=rows, cols=cols, parts=parts, part=part, lanes=lanes)
    return job, min(MOST_BLOCKS, -(-rows * parts // teams))


def blocks_for(rows):
    """Where a warp takes a row."""
    return min(MOST_BLOCKS, -(-rows // WARPS))


def twice(poison):
    return poison << 32 | poison


class Readback:
    """Numbers from the device, all in one transfer."""

    def __init__(self):
        self.parts, self.values = [], None

    def add(self, tensor):
        """A handle for numbers() or whole(), valid once read() has been called."""
        self.parts.append(tensor.reshape(-1).view(torch.int64))
        return len(self.parts) - 1

    def read(self):
        self.values = []
        if not self.parts:
            return
        data, start = torch.cat(self.parts).cpu(), 0
        for part in self.parts:
            self.values.append(data[start:start + part.numel()])
            start += part.numel()
        self.parts = []

    def numbers(self, handle):
        return self.values[handle].view(torch.float64).tolist()

    def whole(self, handle):
        return self.values[handle].tolist()
