"""The jail host: a Python with PyTorch in memory that forks jailed workers.

Started as `python3 python/cawb_host/judge/jailed --jail LIBRARY --cache FOLDER --builds FOLDER` with a scrubbed environment and a
connected socket on descriptor 3. It runs nothing of a candidate's: a request "spawn"
makes a process that enters the jail (confine.py) before it looks at anything (worker.py),
and sends the socket to it back. A worker costs a fork instead of an import of PyTorch.
Nothing secret is ever in this process, so there is none in its forks.
"""
import ctypes
import os
import platform
import signal
import sys
import warnings

sys.path[0] = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", ".."))

from cawb_host.base.channel import Channel  # noqa: E402  pylint: disable=wrong-import-position
from cawb_host.judge.jailed.confine import LEVELS, Confinement  # noqa: E402  pylint: disable=wrong-import-position
from cawb_host.base.fault import Fault, from_host  # noqa: E402  pylint: disable=wrong-import-position
from cawb_host.base.protocol import protocol  # noqa: E402  pylint: disable=wrong-import-position
from cawb_host.judge.jailed.inmates import ENDED, Inmates, scarce  # noqa: E402  pylint: disable=wrong-import-position

SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER


class Host:
    def __init__(self, library, cache, packs):
        self.confinement, self.cache, self.watcher, self.packs = Confinement(library), cache, None, packs
        self.inmates = Inmates(self.confinement)

    def hello(self, _request):
        torch, watcher = import_torch(), self.watch()
        return {"python": platform.python_version(), "torch": torch.__version__,
                **({"blind": watcher.why[:1000]} if watcher.why else {})}, ()

    def watch(self):
        """The watcher, loaded: what is forked from here on has it."""
        if self.watcher is None:
            from cawb_host.judge.jailed.watch import Watcher  # pylint: disable=import-outside-toplevel
            self.watcher = Watcher(self.cache)
        return self.watcher

    def probe(self, request):
        """The first of the levels that this machine has, and why not the ones before it."""
        wanted = request.get("jail", "auto")
        if wanted not in LEVELS + ("auto", "none"):
            raise Fault("invalid", "unknown jail '%s' (there are auto, %s, none)"
                        % (wanted, ", ".join(LEVELS)))
        return self.confinement.probe(wanted), ()

    def build(self, request):
        """A pack of what importing a candidate's file builds (builds.py), made where there is none."""
        builds = self.builds()
        key, packs = builds.key_of(request["source"], request.get("files")), builds.Packs(self.packs)
        if packs.has(key):
            return {"key": key}, ()
        fd = builds.new_pack()
        try:
            how = self.inmates.build(request, fd)["how"]
            kind, text = builds.contents(fd)
        finally:
            os.close(fd)
        if kind == "pack" and packs.keep(key, text):
            return {"key": key}, ()
        if kind == "fail":
            return {"failed": text.decode(errors="replace")[:4096]}, ()
        return {"late": True} if how == ENDED else {}, ()

    def builds(self):
        self.watch()
        from cawb_host.judge.jailed import builds  # pylint: disable=import-outside-toplevel
        return builds

    def spawn(self, request):
        import_torch()
        pack = self.builds().Packs(self.packs).sealed(request["key"]) if request.get("key") else None
        return self.inmates.spawn(request, self.watch(), pack)

    def end(self, request):
        return self.inmates.end(request["id"], request.get("patience", 0)), ()


def import_torch():
    warnings.filterwarnings("ignore", message="Failed to initialize NumPy")
    try:
        import torch  # pylint: disable=import-outside-toplevel
        from cawb_host.judge.jailed import worker  # noqa: F401  pylint: disable=import-outside-toplevel,unused-import
        return torch
    except (ImportError, OSError) as error:
        raise Fault("missing", "Python %s at %s cannot import PyTorch (%s)"
                    % (platform.python_version(), sys.executable, error)) from None


def answer(host, request):
    request = protocol("jail_host").request(request)
    try:
        reply, fds = getattr(host, request["op"])(request)
        return dict(reply, ok=True), fds
    except Fault:
        raise
    except Exception as error:  # pylint: disable=broad-except
        raise scarce(error) or from_host(error) from None


def serve(channel, host):
    while True:
        fds, request = (), {}
        try:
            request = channel.receive()
            if request is None:
                return 0
            reply, fds = answer(host, request)
        except Fault as fault:
            reply = fault.reply()
        channel.send(reply, fds, request)
        for fd in fds:
            os.close(fd)


def main(arguments):
    if len(arguments) != 6 or arguments[::2] != ["--jail", "--cache", "--builds"]:
        sys.stderr.write("jail host: cawb starts this program\n")
        return 2
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    ctypes.CDLL(None).prctl(SUBREAPER, 1, 0, 0, 0)  # orphans of a jail without namespaces
    sys.path[:] = [os.path.realpath(p) for p in sys.path]
    host = Host(*arguments[1::2])
    try:
        return serve(Channel(3), host)
    except (BrokenPipeError, ConnectionError):
        return 1
    finally:
        host.inmates.end_all()


if __name__ == "__main__":
    status = main(sys.argv[1:])
    sys.stderr.flush()
    os._exit(status)
