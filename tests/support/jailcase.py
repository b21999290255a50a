"""What is tried in a jail: each act outside first, where it must succeed (or it shows nothing), and then in a jail of a level."""
import ctypes
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "python"))

from cawb_host.judge.jailed import confine  # noqa: E402  pylint: disable=wrong-import-position

LIBRARY = os.environ.get("CAWB_JAIL_LIBRARY",
                         os.path.join(ROOT, "build", "release", "lib", "libcawb_jail.so"))
CONFINEMENT = confine.Confinement(LIBRARY)
LIMITS = {"disk": 1 << 20, "processes": 30, "file": 1 << 26, "memory": 1 << 31, "seconds": 60}
LIBC = ctypes.CDLL(None, use_errno=True)

REPORT = 200                # where an act in a jail tells what became of it


def inside(level, act, *arguments, more=()):
    """What `act` returns in a jail of this level: a value of JSON, or "denied: why"."""
    read, write = os.pipe()
    folder = confine.private_folder(level)
    pid = os.fork()
    if pid == 0:
        try:
            os.setpgid(0, 0)
            os.dup2(write, REPORT)
            os.closerange(3, REPORT)
            os.closerange(REPORT + 1, 4096)
            confine.set_environment(folder)
            CONFINEMENT.enter(level, "\n".join([confine.describe(level, LIMITS, folder), *more]))
            os.chdir(folder or "/tmp")
            os.write(REPORT, json.dumps(attempt(act, *arguments)).encode())
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as file:
        text = file.read()
    try:
        os.killpg(pid, signal.SIGTERM if level == "namespaces" else signal.SIGKILL)
    except OSError:
        pass
    os.waitpid(pid, 0)
    confine.remove(folder)
    return json.loads(text.decode()) if text else "lost"


def attempt(act, *arguments):
    try:
        return act(*arguments)
    except (OSError, MemoryError) as error:
        return "denied: %s" % error


# Acts of several tests

def read_file(path):
    with open(path, "rb") as file:
        return len(file.read(100)) >= 0 and "done"


def processes():
    return sorted(int(name) for name in os.listdir("/proc") if name.isdigit())


class Jailed(unittest.TestCase):
    level = None

    def setUp(self):
        why = CONFINEMENT.probe(self.level)["not"].get(self.level)
        if why:
            self.skipTest(why)
        self.folder = tempfile.mkdtemp(prefix="cawb-test-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.folder)

    def denied(self, act, *arguments):
        self.assertEqual(attempt(act, *arguments), "done", "it fails outside, too")
        self.assertRegex(str(inside(self.level, act, *arguments)), "^denied: ")

    def allowed(self, act, *arguments):
        self.assertEqual(inside(self.level, act, *arguments), "done")

    def bystander(self):
        child = subprocess.Popen(["/bin/sleep", "600"])
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)
        return child.pid
