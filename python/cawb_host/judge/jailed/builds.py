"""What a candidate's file builds when it is imported (`load_inline`, C++ of its folder), kept from one process to the next.

Nothing that a process of a candidate wrote while it was judged may reach another: it could tell what it saw. So a process of its
own builds: in a jail like the others', but before there is anything to see. It is given the candidate's text and no seed, no
input and no share; it imports the file, packs what was built, and is ended with all that it started. The pack is kept under a
hash of that text, PyTorch and the compilers. A process of the same text unpacks it, in its jail, before it imports the file;
ninja then looks whether everything is up to date, as always.

Who may write: this machine's user, through the jail host, which copies bytes and never looks into them. No jail sees the folder. A
worker gets its pack as a sealed file in memory. A candidate that packs something else than it built deceives itself only,
and could as well have brought it along in its text.
"""
import fcntl
import hashlib
import io
import os
import shutil
import struct
import tarfile

import torch

from cawb_host.base.fault import one_line

MOST = 256 << 20                # bytes of a pack
KEPT = 4 << 30                  # of all of them
ADD_SEALS, OF_ITS_SIZE, READ_ONLY = 1033, 1 | 2 | 4, 1 | 2 | 4 | 8      # F_ADD_SEALS; neither grows nor shrinks; nor is written to
ROOTS = ("torch_extensions", os.path.join("candidate", "build"))
HEAD = struct.Struct("<4sQ")    # "pack" or "fail", and how many bytes follow


# ---- in the jail

def build(fd, execute, describe, request):
    """Import the file, and leave in `fd` what was built, or why it cannot be imported."""
    try:
        execute(request)
        kind, text = b"pack", packed(os.environ["TMPDIR"])
    except BaseException as error:  # pylint: disable=broad-except
        kind, text = b"fail", one_line(describe(error)).encode()
    if len(text) <= MOST:
        with os.fdopen(fd, "wb") as file:
            file.write(HEAD.pack(kind, len(text)) + text)


def packed(base):
    """A tar of what lies below ROOTS. Times in whole seconds: what ninja compares stays in order."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for root in ROOTS:
            for folder, _, names in os.walk(os.path.join(base, root)):
                for path in (os.path.join(folder, name) for name in sorted(names) if name != "lock"):
                    if os.path.isfile(path) and not os.path.islink(path):
                        about = tar.gettarinfo(path, os.path.relpath(path, base))
                        about.mtime = int(about.mtime)
                        with open(path, "rb") as file:
                            tar.addfile(about, file)
    return out.getvalue()


def unpack(fd):
    """Before the candidate's file is imported. What cannot be unpacked is built again."""
    base = os.environ["TMPDIR"]
    try:
        with os.fdopen(fd, "rb") as file, tarfile.open(fileobj=file, mode="r:") as tar:
            for about in tar:
                if about.isreg() and about.name.startswith(ROOTS) and ".." not in about.name.split("/"):
                    path = os.path.join(base, about.name)
                    os.makedirs(os.path.dirname(path), exist_ok=True)
                    with open(path, "wb") as to:
                        shutil.copyfileobj(tar.extractfile(about), to)
                    os.utime(path, (about.mtime, about.mtime))
    except (OSError, tarfile.TarError):
        pass


# ---- in the jail host

def new_pack():
    fd = os.memfd_create("pack", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.ftruncate(fd, HEAD.size + MOST)
    fcntl.fcntl(fd, ADD_SEALS, OF_ITS_SIZE)
    return fd


def contents(fd):
    """("pack" or "fail", bytes) of what a builder left; (None, b"") where it left nothing."""
    kind, size = HEAD.unpack(os.pread(fd, HEAD.size, 0))
    if kind not in (b"pack", b"fail") or size > MOST:
        return None, b""
    text = b""
    while len(text) < size:
        text += os.pread(fd, size - len(text), HEAD.size + len(text))
    return kind.decode(), text


def compilers():
    """The programs that build, as far as they can be told apart without asking them."""
    for name in ("c++", "nvcc", "ninja"):
        path = shutil.which(name)
        if path:
            about = os.stat(path)
            yield os.path.realpath(path), about.st_size, about.st_mtime_ns


def key_of(source, others):
    about = (1, source, sorted((others or {}).items()), torch.__version__, torch.__file__, list(compilers()),
             os.environ.get("TORCH_CUDA_ARCH_LIST"), os.environ.get("CUDA_HOME"))
    return hashlib.sha256(repr(about).encode("utf-8", "surrogatepass")).hexdigest()


class Packs:
    """The folder of packs, of which a full disk or one that cannot be written costs time only."""

    def __init__(self, folder):
        self.folder = folder

    def path(self, key):
        return os.path.join(self.folder, key + ".pack")

    def has(self, key):
        return os.path.exists(self.path(key))

    def keep(self, key, text):
        made = "%s.%d" % (self.path(key), os.getpid())
        try:
            os.makedirs(self.folder, mode=0o700, exist_ok=True)
            with open(os.open(made, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
                file.write(text)
            os.replace(made, self.path(key))
            self.bound()
            return True
        except OSError:
            return False

    def bound(self):
        """The oldest go where all of them are too much."""
        entries = sorted((e.stat().st_mtime, e.stat().st_size, e.path) for e in os.scandir(self.folder))
        total = sum(size for _, size, _ in entries)
        for _, size, path in entries[:-1]:
            if total <= KEPT:
                return
            os.unlink(path)
            total -= size

    def sealed(self, key):
        """A copy of one that nobody can write to, as a descriptor; None where there is none."""
        try:
            with open(self.path(key), "rb") as file:
                fd = os.memfd_create("pack", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
                with os.fdopen(os.dup(fd), "wb") as to:
                    shutil.copyfileobj(file, to)
        except OSError:
            return None
        os.lseek(fd, 0, os.SEEK_SET)
        fcntl.fcntl(fd, ADD_SEALS, READ_ONLY)
        return fd
