"""Forks task hosts for the tests from a process that has PyTorch in memory.

Importing PyTorch takes two seconds, and most tests start a task host. Started as
`python3 tests/support/warm/server.py SOCKET` by ctest, ahead of the tests that need it, this program
returns at once and leaves a server behind, which ends with ctest. Its clients are
tests/support/warm/python.c; each connection is one host, and lives as long as it.
"""
import array
import contextlib
import gc
import os
import resource
import selectors
import signal
import socket
import struct
import sys
import traceback
import warnings

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
BACKLOG = 64
FDS = 4                                   # 0, 1, 2 and the host's socket


def listen(path):
    """A socket at this path; None where a server has one already."""
    if os.path.exists(path):
        with socket.socket(socket.AF_UNIX) as other:
            if other.connect_ex(path) == 0:
                return None
        os.unlink(path)
    server = socket.socket(socket.AF_UNIX)
    server.bind(path)
    server.listen(BACKLOG)
    return server


def import_all():
    """What a task host imports by the time that it has loaded a task. No thread may start here:
    none would be in the forks."""
    warnings.filterwarnings("ignore", message="Failed to initialize NumPy")
    os.environ["OMP_WAIT_POLICY"] = "PASSIVE"      # read once, see python/cawb_host/__main__.py
    sys.path[0] = os.path.join(ROOT, "python")
    import cawb_host.operations  # noqa: F401  pylint: disable=import-outside-toplevel,unused-import
    import torch._dynamo  # noqa: F401  pylint: disable=import-outside-toplevel,unused-import
    gc.collect()
    gc.freeze()                           # no fork looks at these objects again


class Server:
    def __init__(self, listener, owner):
        self.listener = listener
        self.selector = selectors.DefaultSelector()
        self.selector.register(listener, selectors.EVENT_READ, self.accept)
        self.selector.register(owner, selectors.EVENT_READ, self.stop)
        self.hosts = {}                   # pid by connection

    def serve(self):
        while self.hosts or self.listener.fileno() >= 0:
            for key, _ in self.selector.select():
                key.data(key.fileobj)

    def stop(self, owner):
        """ctest is gone: no more hosts."""
        self.selector.unregister(owner)
        self.selector.unregister(self.listener)
        self.listener.close()

    def accept(self, listener):
        connection, _ = listener.accept()
        try:
            request = receive(connection)
        except (OSError, EOFError):
            connection.close()
            return
        pid = os.fork()
        if pid == 0:
            become(request)
        for fd in request[0]:
            os.close(fd)
        self.hosts[connection] = pid
        self.selector.register(connection, selectors.EVENT_READ, self.abandoned)
        self.selector.register(os.pidfd_open(pid), selectors.EVENT_READ, self.ended(connection))

    def abandoned(self, connection):
        """Whoever stood for the host is gone; `ended` follows, or came just before, in the same turn."""
        if connection in self.hosts:
            self.selector.unregister(connection)
            kill(self.hosts[connection])

    def ended(self, connection):
        def report(pidfd):
            self.selector.unregister(pidfd)
            os.close(pidfd)
            _, status = os.waitpid(self.hosts.pop(connection), 0)
            number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
            code = 0 if number else os.WEXITSTATUS(status)
            if connection.fileno() in self.selector.get_map():
                self.selector.unregister(connection)
            try:
                connection.sendall(struct.pack("=ii", code, number))
            except OSError:
                pass                      # abandoned
            connection.close()
        return report


def kill(pid):
    """The host, and what it started."""
    for target in (-pid, pid):            # it may not have a group yet
        try:
            os.kill(target, signal.SIGKILL)
        except ProcessLookupError:
            pass


def receive(connection):
    """([descriptors], working folder, environment)"""
    fds = array.array("i")
    head, extra, _, _ = connection.recvmsg(4, socket.CMSG_SPACE(FDS * fds.itemsize))
    for level, kind, data in extra:
        if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
            fds.frombytes(data[:len(data) // fds.itemsize * fds.itemsize])
    if len(head) < 4 or len(fds) != FDS:
        raise EOFError("no request")
    size, = struct.unpack("=I", head)
    text = connection.recv(size, socket.MSG_WAITALL)
    folder, *environment = text.split(b"\0")[:-1]
    return list(fds), folder, [entry.partition(b"=") for entry in environment]


def become(request):
    """In the fork: run python/cawb_host as Python would. Does not return."""
    fds, folder, environment = request
    status = 1
    try:
        os.setpgid(0, 0)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        for number, fd in enumerate(fds):
            os.dup2(fd, number)           # each is above 3, which was taken before it came
        os.closerange(FDS, 1024)
        os.chdir(folder)
        os.environ.clear()
        os.environb.update({key: value for key, _, value in environment})
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        from cawb_host import __main__ as program  # pylint: disable=import-outside-toplevel
        status = program.main([])
    except BaseException:  # pylint: disable=broad-except
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(status)


def detach(listener, owner):
    """Leave the server behind: ctest waits for nobody who holds its output."""
    if os.fork() != 0:
        os._exit(0)
    os.setsid()
    ours = {listener.fileno(), owner}
    for fd in map(int, os.listdir("/proc/self/fd")):
        if fd not in ours:
            with contextlib.suppress(OSError):     # the listing's own is closed already
                os.close(fd)
    for number in range(3):
        os.dup2(os.open(os.devnull, os.O_RDWR), number)
    import_all()
    Server(listener, owner).serve()


def main(path):
    owner = os.pidfd_open(os.getppid())
    listener = listen(path)
    if listener is None:
        print("there is one already")
        return 0
    detach(listener, owner)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
