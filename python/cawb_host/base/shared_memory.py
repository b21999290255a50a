"""Memory that the worker can map: a memfd, or a raw CUDA allocation.

A CUDA share lies outside PyTorch's caching allocator, because an IPC handle
names a whole allocation. The owner frees it with close(); whoever mapped it
must have let go before that.
"""
import ctypes
import fcntl
import functools
import mmap
import os

import torch
import torch.utils.dlpack

ADD_SEALS, SEALS = 1033, 1 | 2 | 4  # F_ADD_SEALS; it neither shrinks nor grows, nor does that change
SMALLEST = 4096  # bytes; an empty share can be mapped like any other
BLOCK = 2 << 20  # bytes; smaller CUDA allocations share a block, and so its IPC handle


def open_share(size, device, label):
    size = max(size, SMALLEST)
    if device.type == "cuda":
        return CudaShare(size, device)
    return FileShare(size, label)


class FileShare:
    """`memory` is the share as a tensor of bytes; `fd` goes to the worker."""

    def __init__(self, size, label):
        self.size = size
        self.fd = os.memfd_create("cawb-" + label, os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        os.ftruncate(self.fd, size)
        fcntl.fcntl(self.fd, ADD_SEALS, SEALS)      # one who shrank it would end who reads it
        self.map = mmap.mmap(self.fd, size)
        self.memory = torch.frombuffer(self.map, dtype=torch.uint8)

    def describe(self):
        return {"size": self.size}

    def close(self):
        """The mapping itself goes with the last tensor that looks at it."""
        if self.fd >= 0:
            os.close(self.fd)
        self.fd, self.memory, self.map = -1, None, None


class CudaShare:
    fd = -1

    def __init__(self, size, device):
        self.size, self.device = (size + BLOCK - 1) // BLOCK * BLOCK, device
        torch.cuda.init()
        torch.zeros(1, device=device)  # makes the primary context exist
        with torch.cuda.device(device):
            self.address = allocate(self.size)
            try:
                self.handle = ipc_handle(self.address)
                self.memory = bytes_at(self.address, self.size, device)
            except BaseException:
                driver().cuMemFree_v2(ctypes.c_uint64(self.address))
                raise

    def describe(self):
        return {"size": self.size, "ipc": self.handle}

    def close(self):
        if not self.address:
            return
        self.memory = None
        with torch.cuda.device(self.device):
            torch.cuda.synchronize(self.device)
            check(driver().cuMemFree_v2(ctypes.c_uint64(self.address)), "cuMemFree")
        self.address = 0


# The driver API, as far as it is needed here.

class IpcHandle(ctypes.Structure):
    _fields_ = [("reserved", ctypes.c_ubyte * 64)]


@functools.lru_cache(None)
def driver():
    return ctypes.CDLL("libcuda.so.1")


def check(status, call):
    if status == 0:
        return
    text = ctypes.c_char_p()
    driver().cuGetErrorString(status, ctypes.byref(text))
    reason = text.value.decode() if text.value else "unknown error"
    if status == 2:  # CUDA_ERROR_OUT_OF_MEMORY
        raise MemoryError("%s: %s" % (call, reason))
    raise RuntimeError("CUDA error in %s: %s (%d)" % (call, reason, status))


def allocate(size):
    address = ctypes.c_uint64()
    status = driver().cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(size))
    if status == 2:  # the reserve of PyTorch's allocator may be enough
        torch.cuda.empty_cache()
        status = driver().cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(size))
    check(status, "cuMemAlloc of %d bytes" % size)
    return address.value


def ipc_handle(address):
    handle = IpcHandle()
    check(driver().cuIpcGetMemHandle(ctypes.byref(handle), ctypes.c_uint64(address)),
          "cuIpcGetMemHandle")
    return bytes(handle.reserved).hex()


# A tensor over foreign memory. DLPack needs no NumPy; PyTorch's reader of
# __cuda_array_interface__ does.

class DLTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32),
                ("device_id", ctypes.c_int32), ("ndim", ctypes.c_int32),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


class DLManagedTensor(ctypes.Structure):
    _fields_ = [("tensor", DLTensor), ("context", ctypes.c_void_p),
                ("deleter", ctypes.CFUNCTYPE(None, ctypes.c_void_p))]


KEPT = {}  # structures that PyTorch still points to, by their own address


@ctypes.CFUNCTYPE(None, ctypes.c_void_p)
def forget(address):
    KEPT.pop(address, None)


def bytes_at(address, size, device):
    """`size` bytes at an address of `device` as a uint8 tensor; not owned."""
    shape = (ctypes.c_int64 * 1)(size)
    kind = 2 if device.type == "cuda" else 1  # kDLCUDA, kDLCPU
    tensor = DLTensor(address, kind, device.index or 0, 1, 1, 8, 1, shape, None, 0)
    managed = DLManagedTensor(tensor, None, forget)
    KEPT[ctypes.addressof(managed)] = (managed, shape)
    capsule = ctypes.pythonapi.PyCapsule_New
    capsule.restype, capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p,
                                                           ctypes.c_void_p]
    return torch.utils.dlpack.from_dlpack(
        capsule(ctypes.addressof(managed), b"dltensor", None))
