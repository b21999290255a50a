"""A server of one's own: started, used, ended."""
import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import tempfile

from cawb.client import Env, Failed

HERE = os.path.dirname(os.path.abspath(__file__))


def program():
    """The program `cawb`: $CAWB_PROGRAM, the one that a wheel brought, or the one on PATH."""
    own = os.path.join(HERE, "tree", "bin", "cawb")
    found = os.environ.get("CAWB_PROGRAM") or (own if os.path.exists(own) else None) or shutil.which("cawb")
    if not found or not shutil.which(found):
        at = " at %s" % found if found else ""
        raise FileNotFoundError("the program cawb was not found" + at + ": put its folder on PATH, install the wheel that its build makes, or set CAWB_PROGRAM")
    return found


class Served(Env):
    """An Env with the process behind it."""

    def __init__(self, process, url, errors, **more):
        super().__init__(url, **more)
        self.process, self.errors = process, errors

    def close(self):
        """Let what is under way finish, and end the server."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(60)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.process.stdout.close()
        self.errors.close()


def words_of(tasks, device, out, options, config, flags):
    words = [program(), "serve", *tasks, "--port", "0", "--device", device, "--out", out]
    for path in [config] if isinstance(config, str) else config or ():
        words += ["--config", path]
    for name, value in (options or {}).items():
        words += ["--set", "%s=%s" % (name, str(value).lower() if isinstance(value, bool) else value)]
    return words + list(flags)


def surroundings(env=None):
    """The environment that the program is started in; without CAWB_PYTHON it looks for a Python that has PyTorch."""
    found = dict(os.environ, **(env or {}))
    if importlib.util.find_spec("torch"):
        found.setdefault("CAWB_PYTHON", sys.executable)
    return found


def serve(*tasks, device="auto", out="cawb-runs", options=None, config=None, flags=(), env=None, **more):
    """Start a server on task files and suites, and return its Env; close() or `with` ends it. `options`: {"turns": 4,
    "task.rows": 64}; `config`: a file of options, or several; `flags`: further words of `cawb serve`."""
    errors = tempfile.TemporaryFile()
    process = subprocess.Popen(words_of(tasks, device, out, options, config, flags), stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=errors, env=surroundings(env))
    line = process.stdout.readline().decode()
    if "http://" not in line:
        process.stdout.close()
        process.wait()
        errors.seek(0)
        said = errors.read().decode(errors="replace").strip()
        errors.close()
        raise Failed("cawb serve did not start: %s" % said)
    return Served(process, "http" + line.split("http", 1)[1].split(",")[0], errors, **more)
