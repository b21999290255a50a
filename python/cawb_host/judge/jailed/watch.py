"""The watcher of a worker's process: watch.cpp, built once for the PyTorch that is there.

It is loaded before a worker is forked, and begins in the worker, before the candidate's file is
executed. Where it cannot be built (no C++ compiler, no headers) work is judged by the text.
"""
import contextlib
import ctypes
import fcntl
import hashlib
import os
import shutil
import subprocess

import torch

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", "..", ".."))
HERE = os.path.join(ROOT, "core", "judge", "watch")
SOURCE = os.path.join(HERE, "watch.cpp")
PARTS = (SOURCE, os.path.join(HERE, "names.hpp"))


class Watcher:
    """`library`, or None and `why`."""

    def __init__(self, folder):
        self.library, self.why = None, None
        try:
            self.library = ctypes.CDLL(built(folder))
            self.library.cawb_watch_prepare()
        except (OSError, subprocess.SubprocessError, ValueError) as error:
            self.why = "what PyTorch does for a candidate is not seen, its text is judged: %s" % error

    def begin(self, fd, size, gpu):
        if self.library is not None:
            self.library.cawb_watch_begin(fd, ctypes.c_size_t(size), gpu)
            self.cover(torch._ops.OpOverload, "redispatch", lambda op: op._schema.name)
            self.cover(type(torch.ops.aten.mm.default._handle), "redispatch_boxed", lambda handle: str(handle.schema()).split("(")[0])
            self.tell_of_blinding()
        os.close(fd)

    def cover(self, kind, name, named):
        """Ways to an operator that PyTorch records nothing of."""
        real = getattr(kind, name, None)
        if real is None:
            return
        told = self.library.cawb_watch_note

        def seen(op, *arguments, **more):
            told(b"redispatch ", named(op).encode()[:200])
            return real(op, *arguments, **more)
        with contextlib.suppress(AttributeError, TypeError):
            setattr(kind, name, seen)

    def tell_of_blinding(self):
        """Python's way to have PyTorch record nothing for a while; watch.cpp sees that of other languages."""
        told = self.library.cawb_watch_note
        for module in (getattr(torch._C, "_autograd", None), torch.autograd):
            real = getattr(module, "_enable_record_function", None)
            if real is not None:
                def seen(enable, real=real):
                    told(b"symbol ", b"enableRecordFunction")
                    return real(enable)
                module._enable_record_function = seen

    def libraries(self):
        if self.library is not None:
            self.library.cawb_watch_libraries()


def built(folder):
    """The library's path; it is made where it is not there yet."""
    told = hashlib.sha256(torch.__version__.encode() + torch.__file__.encode())
    for part in PARTS:
        with open(part, "rb") as file:
            told.update(file.read())
    key = told.hexdigest()[:16]
    path = os.path.join(folder or "/nowhere", "cawb-watch-%s.so" % key)
    if os.path.exists(path):
        return path
    compiler = shutil.which("c++") or shutil.which("g++") or shutil.which("clang++")
    if not folder or compiler is None:
        raise ValueError("there is no C++ compiler" if folder else "there is no folder for it")
    os.makedirs(folder, exist_ok=True)
    with open(path + ".lock", "w", encoding="ascii") as lock:      # hosts that start together build it once
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.exists(path):
            build(compiler, path)
    return path


def build(compiler, path):
    base = os.path.dirname(os.path.abspath(torch.__file__))
    made = "%s.%d" % (path, os.getpid())
    run = subprocess.run([compiler, "-std=c++20" if torch.__version__ >= "2.1" else "-std=c++17", "-O2", "-DNDEBUG", "-shared", "-fPIC",
                          "-D_GLIBCXX_USE_CXX11_ABI=%d" % torch.compiled_with_cxx11_abi(),
                          "-I" + base + "/include", "-o", made, SOURCE, "-L" + base + "/lib", "-ltorch_cpu",
                          "-lc10", "-ldl"], capture_output=True, text=True, timeout=300, check=False)
    if run.returncode != 0:
        lines = [line for line in run.stderr.splitlines() if "error" in line] or ["it failed"]
        raise ValueError("its compiler says: " + lines[0][:300])
    os.replace(made, path)
