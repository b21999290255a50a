"""What a jail looks like on this machine, and entering one (core/judge/jail/jail.h does it).

Levels: "namespaces", a root, processes, network and users of its own, with Landlock
and seccomp on top; "landlock", those two alone, for kernels and containers that forbid
namespaces. "none" is no jail at all.
"""
import ctypes
import glob
import os
import shutil
import sys
import tempfile

from cawb_host.base.fault import Fault
from cawb_host.judge.jailed import groups

LEVELS = ("namespaces", "landlock")
LACKS = {"landlock": ("disk is bounded for each file, not for all of them together",
                      "it sees that other processes exist")}

SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc/ld.so.cache",
          "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/alternatives", "/etc/passwd",
          "/etc/group", "/etc/nsswitch.conf", "/etc/localtime", "/sys/devices/system")
FOR_GPU = ("/sys/bus/pci", "/sys/devices", "/sys/module", "/sys/class",
           "/usr/local/nvidia", "/opt/nvidia")
# The driver names its threads through /proc, and listens to a socket for descriptors.
GPU_NEEDS = ["threads", "listen"]
SECRET_FREE = {"HOME": "", "TMPDIR": "", "TORCH_EXTENSIONS_DIR": "/torch_extensions",
               "TRITON_CACHE_DIR": "/triton", "TORCHINDUCTOR_CACHE_DIR": "/inductor",
               "CUDA_CACHE_PATH": "/cuda", "XDG_CACHE_HOME": "/cache"}


class Failure(ctypes.Structure):
    _fields_ = [("code", ctypes.c_int), ("text", ctypes.c_char * 1024)]


class Confinement:
    def __init__(self, library):
        try:
            self.library = ctypes.CDLL(library)
        except OSError as error:
            raise Fault("missing", "cannot load %s: %s" % (library, error)) from None

    def enter(self, level, description):
        """Come back in the jail, or raise; see cawb_jail_enter for which process does."""
        failure = Failure()
        if level != "none" and \
                self.library.cawb_jail_enter(description.encode(), ctypes.byref(failure)) != 0:
            raise Fault("missing", failure.text.decode(errors="replace"))

    def probe(self, wanted):
        """{"jail": level, "parts": text, "lacks": [what is not held], "not": {level: why}}, jail missing
        where none works."""
        if wanted == "none":
            return {"jail": "none", "parts": "nothing", "lacks": [], "not": {}}
        why = {}
        for level in LEVELS if wanted == "auto" else (wanted,):
            why[level] = self.attempt(level)
            if why[level] is None:
                del why[level]
                lacks = groups.attempt()
                return {"jail": level, "parts": self.parts(level, lacks), "not": why,
                        "lacks": lacks + [text for text in LACKS.get(level, ()) ]}
        return {"not": why}

    def attempt(self, level):
        """None, or why this level cannot be entered."""
        read, write = os.pipe()
        pid = os.fork()
        if pid == 0:
            try:
                self.enter(level, describe(level, {}, None))
                os._exit(0)
            except BaseException as error:  # pylint: disable=broad-except
                os.write(write, str(error).encode()[:1000])
            finally:
                os._exit(1)
        os.close(write)
        with os.fdopen(read, "rb") as file:
            text = file.read().decode(errors="replace")
        status = os.waitpid(pid, 0)[1]
        return None if status == 0 else text or "it ended with status %d" % status

    def parts(self, level, lacks):
        abi = self.library.cawb_jail_landlock_abi()
        words = ["user, mount, pid, network, ipc and uts namespaces"] if level == LEVELS[0] else []
        if abi:
            words.append("Landlock %d" % abi)
        words += ["seccomp", "resource limits"]
        held = [what for what, text in groups.LACKS.items() if text not in lacks]
        return ", ".join(words + (["a control group (%s)" % ", ".join(held)] if held else []))


def describe(level, limits, folder, gpu=False):
    """The description that cawb_jail_enter reads."""
    lines = ["namespaces"] if level == "namespaces" else []
    lines += ["show " + path for path in shown(gpu)]
    lines += ["device " + path for path in devices(gpu)]
    lines += ["disk %d" % limits.get("disk", 64 << 20)]
    ours = ("disk", "addresses", *(["memory"] if "addresses" in limits else []))
    lines += ["limit %s %d" % (name, most) for name, most in sorted(limits.items()) if name not in ours]
    if gpu:
        lines += GPU_NEEDS
    if level == "landlock" and folder:
        lines.append("folder " + folder)
    return "\n".join(lines)


def shown(gpu):
    """Paths to be read: the system's and this Python's, those that hold others first."""
    paths = list(SYSTEM) + (list(FOR_GPU) + drivers() if gpu else [])
    python = [sys.prefix, sys.base_prefix, sys.exec_prefix, os.environ.get("CUDA_HOME", "")]
    python += [p for p in sys.path if p.endswith("-packages")]
    paths += [os.path.realpath(p) for p in python if p]
    found = []
    for path in sorted(set(paths), key=len):
        if os.path.exists(path) and path != "/" and \
                not any(path.startswith(known + "/") for known in found):
            found.append(path)
    return found


def drivers():
    """Folders of the driver's libraries, where a container has put them elsewhere."""
    return [os.path.realpath(p) for p in os.environ.get("LD_LIBRARY_PATH", "").split(":")
            if p.startswith("/")]


def devices(gpu):
    return sorted(glob.glob("/dev/nvidia*")) if gpu else []


def private_folder(level):
    """Where a worker may write, outside its jail's own root; the caller removes it."""
    if level == "namespaces":
        return None
    folder = tempfile.mkdtemp(prefix="cawb-jail-")
    os.chmod(folder, 0o777)
    return folder


def remove(folder):
    if folder:
        shutil.rmtree(folder, ignore_errors=True)


def set_environment(folder):
    for name, below in SECRET_FREE.items():
        os.environ[name] = (folder or "/tmp") + below
    os.environ["USER"] = os.environ["LOGNAME"] = "nobody"
    tempfile.tempdir = None
