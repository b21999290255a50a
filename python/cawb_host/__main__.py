"""The task host: the trusted Python side of a task.

Started as `python3 python/cawb_host` with a connected socket on descriptor 3
(`--fd N` for another one); it serves requests until that socket ends.
PyTorch is imported by the first request, so that a Python without it can say so. With `--plain` first it
is not imported at all: see judge/plain.
"""
import os
import platform
import signal
import sys
import warnings

sys.path[0] = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

from cawb_host.base.channel import Channel  # noqa: E402  pylint: disable=wrong-import-position
from cawb_host.base.fault import Fault, from_host  # noqa: E402  pylint: disable=wrong-import-position
from cawb_host.base.protocol import protocol  # noqa: E402  pylint: disable=wrong-import-position


def main(arguments):
    """0 at the end of the stream, 1 when it broke, 2 when there is none."""
    try:
        plain = arguments[:1] == ["--plain"]
        channel = Channel(socket_number(arguments[1:] if plain else arguments))
    except (OSError, ValueError) as error:
        sys.stderr.write("task host: no socket to serve (%s); cawb starts this program,"
                         " with a socket on descriptor 3 or on --fd N\n" % error)
        return 2
    protect()
    try:
        return serve(channel, plain)
    except (BrokenPipeError, ConnectionError) as error:
        sys.stderr.write("task host: %s\n" % error)
        return 1


def socket_number(arguments):
    if not arguments:
        return 3
    if len(arguments) == 2 and arguments[0] == "--fd":
        return int(arguments[1])
    raise ValueError("unknown arguments " + " ".join(arguments))


def protect():
    """Whatever a task prints goes to stderr, whatever it reads is empty; the
    judge, not the terminal, decides when this process stops."""
    os.dup2(2, 1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Idle OpenMP threads would spin on the cores that the simulator computes on.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    # Tensors of many sizes in gigabytes: without it free memory is in pieces, and some
    # of an 80 GB GPU is lost. The shares do not come from PyTorch's allocator.
    os.environ.setdefault("PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True")


def serve(channel, plain):
    host = None
    while True:
        fds, request = (), {}
        try:
            request = channel.receive()
            if request is None:
                return 0
            host = host or start(plain)
            reply, fds = answer(host, request)
        except Fault as fault:
            reply = fault.reply()
        try:
            channel.send(reply, fds, request)
        except (Fault, ValueError) as error:
            channel.send((error if isinstance(error, Fault) else from_host(error)).reply(), (), request)


def start(plain):
    if plain:
        from cawb_host.judge.plain.host import Host as Plain
        return Plain()
    warnings.filterwarnings("ignore", message="Failed to initialize NumPy")  # not needed
    try:
        from cawb_host.operations import Host
        return Host()
    except (ImportError, OSError) as error:
        raise Fault("missing", "Python %s at %s cannot import PyTorch (%s);"
                    " set CAWB_PYTHON to a Python with PyTorch 2.1 or newer"
                    % (platform.python_version(), sys.executable, error)) from None


def answer(host, request):
    """The reply, with "ok", and the descriptors that go with it."""
    request = protocol("host").request(request)
    try:
        reply, fds = getattr(host, request["op"])(request)
    except Fault:
        raise
    except Exception as error:  # pylint: disable=broad-except
        raise from_host(error) from None
    return dict(reply, ok=True), fds


if __name__ == "__main__":
    status = main(sys.argv[1:])
    sys.stderr.flush()
    os._exit(status)  # threads that a task left behind must not keep us alive
