"""Memory for a process in a jail: a file in memory, or a CUDA allocation behind a file
descriptor. Unlike a CUDA IPC handle, which names the process that made it, a descriptor
works across pid namespaces.
"""
import ctypes
import mmap
import os

import torch

from cawb_host.base.shared_memory import SMALLEST, FileShare, bytes_at, check, driver

FD = 1          # CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
DEVICE = 1      # CU_MEM_LOCATION_TYPE_DEVICE
PINNED = 1      # CU_MEM_ALLOCATION_TYPE_PINNED
READ_WRITE = 3


class Location(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int), ("id", ctypes.c_int)]


class Property(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int), ("handles", ctypes.c_int), ("location", Location),
                ("win32", ctypes.c_void_p), ("compression", ctypes.c_ubyte),
                ("rdma", ctypes.c_ubyte), ("usage", ctypes.c_ushort),
                ("reserved", ctypes.c_ubyte * 4)]


class Access(ctypes.Structure):
    _fields_ = [("location", Location), ("flags", ctypes.c_int)]


def open_share(size, device, label):
    """A share with `memory`, `size`, `fd` and close()."""
    if device.type == "cuda":
        return DescriptorShare(size, device)
    return FileShare(max(size, SMALLEST), label)


def attach(fd, size, device):
    """The bytes of a share, in the process that was sent its descriptor."""
    if device.type == "cuda":
        with torch.cuda.device(device):
            torch.zeros(1, device=device)   # makes the primary context exist
            handle = ctypes.c_uint64()
            check(driver().cuMemImportFromShareableHandle(
                ctypes.byref(handle), ctypes.c_void_p(fd), FD), "cuMemImportFromShareableHandle")
            os.close(fd)
            return bytes_at(mapped(handle, size, device), size, device)
    memory = torch.frombuffer(mmap.mmap(fd, size), dtype=torch.uint8)
    os.close(fd)
    return memory


def mapped(handle, size, device):
    """An address of a physical allocation's own."""
    address = ctypes.c_uint64()
    access = Access(Location(DEVICE, device.index or 0), READ_WRITE)
    length, none = ctypes.c_size_t(size), ctypes.c_uint64(0)
    check(driver().cuMemAddressReserve(ctypes.byref(address), length, ctypes.c_size_t(0), none,
                                       none), "cuMemAddressReserve")
    check(driver().cuMemMap(address, length, ctypes.c_size_t(0), handle, none), "cuMemMap")
    check(driver().cuMemSetAccess(address, length, ctypes.byref(access), ctypes.c_size_t(1)),
          "cuMemSetAccess")
    return address.value


class DescriptorShare:
    def __init__(self, size, device):
        self.device, self.fd, self.address = device, -1, 0
        torch.zeros(1, device=device)
        with torch.cuda.device(device):
            about = Property(PINNED, FD, Location(DEVICE, device.index or 0))
            step = ctypes.c_size_t()
            check(driver().cuMemGetAllocationGranularity(ctypes.byref(step), ctypes.byref(about), 0),
                  "cuMemGetAllocationGranularity")
            self.size = -(-max(size, SMALLEST) // step.value) * step.value
            self.handle = ctypes.c_uint64()
            check(driver().cuMemCreate(ctypes.byref(self.handle), ctypes.c_size_t(self.size),
                                       ctypes.byref(about), ctypes.c_uint64(0)),
                  "cuMemCreate of %d bytes" % self.size)
            fd = ctypes.c_int(-1)
            try:
                check(driver().cuMemExportToShareableHandle(ctypes.byref(fd), self.handle, FD,
                                                            ctypes.c_uint64(0)),
                      "cuMemExportToShareableHandle")
                self.fd = fd.value
                self.address = mapped(self.handle, self.size, device)
            except BaseException:
                self.close()
                raise
        self.memory = bytes_at(self.address, self.size, device)

    def close(self):
        self.memory = None
        with torch.cuda.device(self.device):
            torch.cuda.synchronize(self.device)
            if self.address:
                driver().cuMemUnmap(ctypes.c_uint64(self.address), ctypes.c_size_t(self.size))
                driver().cuMemAddressFree(ctypes.c_uint64(self.address), ctypes.c_size_t(self.size))
            if self.handle.value:
                driver().cuMemRelease(self.handle)
        if self.fd >= 0:
            os.close(self.fd)
        self.address, self.fd, self.handle = 0, -1, ctypes.c_uint64(0)
