"""packages: what `cawb lower` made of a graph, as a folder that is kept: package.json, kernel.cu, plan.lua, kernel.ptx, kernel.cubin."""
import atexit
import concurrent.futures
import contextlib
import functools
import hashlib
import json
import os
import shutil
import tempfile

import torch

from cawb.backend import fallback, lowering
from cawb.backend.recording import HERE, Refused
from cawb.process import program

COMPILER = ("compose", "torch", "gpu", "door/lower.lua")      # of lua/cawb: what the text of a package follows from


GETTER = getattr(torch._C, "_get_fp32_precision_getter", None)       # pylint: disable=protected-access


# (function, arguments) of what the user allows of float32's products and convolutions. It is asked in every call, so not by way of
# torch.backends. Older versions of PyTorch have the older names alone.
ASKED = (((GETTER, ("cuda", "matmul")), (GETTER, ("cuda", "conv"))) if GETTER else
         ((torch._C._get_cublas_allow_tf32, ()), (torch._C._get_cudnn_allow_tf32, ())))      # pylint: disable=protected-access


def precision():
    return tuple([f(*args) for f, args in ASKED])


def allow(found):
    """Of the program what precision() returned."""
    one = torch._C                              # pylint: disable=protected-access
    setters = (one._set_fp32_precision_setter,) * 2 if GETTER else (one._set_cublas_allow_tf32, one._set_cudnn_allow_tf32)
    for setter, (_, args), value in zip(setters, ASKED, found):
        setter(*args, value)


@contextlib.contextmanager
def strict():
    """Products and convolutions are float32's, whatever the program allows."""
    before = precision()
    allow(("ieee", "ieee") if GETTER else (False, False))
    try:
        yield
    finally:
        allow(before)


@functools.lru_cache(None)
def compiler():
    """A digest of the compiler's own sources, or of the program where they are not beside it."""
    home = os.environ.get("CAWB_HOME") or os.path.dirname(os.path.dirname(program()))
    for folder in (os.path.join(home, "lua", "cawb"), os.path.join(home, "share", "cawb", "lua", "cawb"),
                   os.path.join(os.path.dirname(HERE), "..", "..", "lua", "cawb")):
        if os.path.isdir(os.path.join(folder, "compose")):
            return digest_of(folder)
    return str(os.stat(program()).st_mtime_ns)


def digest_of(folder):
    digest = hashlib.sha256()
    for part in COMPILER:
        path = os.path.join(folder, part)
        files = [path] if os.path.isfile(path) else sorted(
            os.path.join(at, name) for at, _, names in os.walk(path) for name in names)
        for name in files:
            with open(name, "rb") as file:
                digest.update(name.encode() + file.read())
    return digest.hexdigest()


def key_of(request, chip):
    """Kernels are of float32's accuracy whatever is allowed, so precision is no part of it: it is of the times beside a package."""
    about = [request, chip.simulated, chip.sms, chip.memory, chip.name, torch.__version__, torch.version.cuda, compiler()]
    return hashlib.sha256(json.dumps(about, sort_keys=True, default=str).encode()).hexdigest()[:32]


class Package:
    """One lowered graph. `about`: arch, export (tensors, prepare, call), options; `seconds`: what they went to, where it was made now."""

    def __init__(self, folder, hit, seconds=None):
        self.folder, self.hit, self.seconds = folder, hit, seconds or {}
        with open(self.path("package.json"), encoding="utf-8") as file:
            self.about = json.load(file)
        self.export = self.about["export"]

    def path(self, name):
        return os.path.join(self.folder, name)

    def text(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()

    def kernels(self):
        return sum(step["kind"] == "launch" for step in self.export["call"])

    def note(self, name, value=None):
        """A small fact that is kept beside the package: set it where a value is given, and return it."""
        path = self.path(name + ".json")
        if value is not None:
            with contextlib.suppress(OSError):             # a folder of others, which this program may only read
                written(path, json.dumps(value).encode())
            return value
        with contextlib.suppress(OSError, ValueError), open(path, encoding="utf-8") as file:
            return json.load(file)
        return None


def written(path, data):
    """A file that is there as a whole or not at all."""
    handle, new = tempfile.mkstemp(dir=os.path.dirname(path))
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.replace(new, path)
    except OSError:                    # a full disk keeps no part of it
        os.unlink(new)
        raise


def keep(reply, folder):
    """The files of a package, from the reply of cawb lower; package.json last, for it says that all is there."""
    os.makedirs(folder, exist_ok=True)
    for name in ("ptx", "cubin"):
        if reply.get(name):
            with open(reply[name], "rb") as file:
                written(os.path.join(folder, "kernel." + name), file.read())
    written(os.path.join(folder, "kernel.cu"), reply["source"].encode())
    written(os.path.join(folder, "plan.lua"), reply["plan"].encode())
    about = {name: reply[name] for name in ("arch", "options", "export")}
    written(os.path.join(folder, "package.json"), json.dumps(about).encode())


def kept(folder):
    """The Package that a folder holds, or None; raises Refused where it holds a refusal. A file that was cut short counts as none."""
    refused = os.path.join(folder, "refused.json")
    with contextlib.suppress(OSError, ValueError, KeyError):
        return Package(folder, True)
    with contextlib.suppress(OSError, ValueError), open(refused, encoding="utf-8") as file:
        raise Refused(json.load(file))
    return None


def keep_reply(reply, folder):
    if reply["ok"]:
        keep(reply, folder)
    elif reply["name"] == "unsupported":
        os.makedirs(folder, exist_ok=True)
        written(os.path.join(folder, "refused.json"), json.dumps(reply["reason"]).encode())


def get(recorded, chip, options, meanwhile=None):
    """The Package of a recorded graph for a chip (see devices.py): from the cache, or made now, while `meanwhile` is called. Raises
    Refused; that is kept, too."""
    name = key_of(recorded.request, chip)
    folder = os.path.join(options.cache or temporary(), name)
    found = kept(folder)
    if found is not None:
        return found
    reply = asked(chip, dict(recorded.request, op="lower", sms=chip.sms, bytes=chip.memory), meanwhile)
    try:
        keep_reply(reply, folder)
    except OSError as error:
        fallback.once("cawb: the folder of the option `cache` takes no files, so kernels are kept until this program ends: %s" % error)
        folder = os.path.join(temporary(), name)
        keep_reply(reply, folder)
    if not reply["ok"]:
        raise Refused(reply["reason"])
    return Package(folder, False, reply["seconds"])


def asked(chip, request, meanwhile):
    if meanwhile is None:
        return lowering.ask(chip.simulated, request)
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        reply = pool.submit(lowering.ask, chip.simulated, request)
        meanwhile()
        return reply.result()


def begin(recorded, chip, options):
    """A future of `get`."""
    return maker().submit(get, recorded, chip, options)


@functools.lru_cache(None)
def maker():
    """One thread: the compiler takes one graph at a time."""
    return concurrent.futures.ThreadPoolExecutor(1, "cawb-packages")


os.register_at_fork(after_in_child=maker.cache_clear)          # its thread stays behind


@functools.lru_cache(None)
def temporary():
    """A folder that ends with this process."""
    folder = tempfile.mkdtemp(prefix="cawb-packages-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder
