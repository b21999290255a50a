"""The socket to the judge: length-prefixed JSON, file descriptors beside it.

A message is 4 bytes of little-endian length and that many bytes of UTF-8 JSON.
Descriptors travel with the 4 length bytes; a request's are the list "fds" of it, and
its receiver's to close. Every request gets one reply.
"""
import array
import json
import socket
import struct

from cawb_host.base.fault import Fault

MOST_FDS = 8
LARGEST = 64 << 20  # bytes; a length beyond it means that the stream is broken


class Channel:
    """One end of a connected stream socket, owned from here on."""

    def __init__(self, fd):
        self.socket = socket.socket(fileno=fd)
        self.socket.setblocking(True)
        self.socket.set_inheritable(False)

    def receive(self):
        """The next request, or None at end of file. Bad JSON raises Fault;
        a stream that cannot be read any further raises BrokenPipeError."""
        head, fds = self._read_head()
        if not head:
            return None
        size, = struct.unpack("<I", head)
        if size > LARGEST:
            raise BrokenPipeError("a message of %d bytes is announced; the limit is %d"
                                  % (size, LARGEST))
        request = parse(self._read(size, "message"))
        if fds:
            request["fds"] = fds
        return request

    def send(self, reply, fds=(), request=None):
        """Send one reply, with the number of its request; the descriptors stay open here."""
        if request and "call" in request:
            reply = dict(reply, call=request["call"])
        body = json.dumps(reply, allow_nan=False, ensure_ascii=False,
                          separators=(",", ":")).encode("utf-8", "replace")
        if len(body) > LARGEST:
            raise Fault("unsupported", "the reply has %d bytes; the limit is %d"
                        % (len(body), LARGEST))
        extra = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
        head = struct.pack("<I", len(body))
        sent = self.socket.sendmsg([head], extra)
        self.socket.sendall(head[sent:] + body)

    def _read_head(self):
        """The length, b"" at the end of the stream, and the descriptors beside it."""
        fds = array.array("i")
        room = socket.CMSG_SPACE(MOST_FDS * fds.itemsize)
        head, extra, _, _ = self.socket.recvmsg(4, room, socket.MSG_CMSG_CLOEXEC)
        for level, kind, data in extra:
            if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                fds.frombytes(data[:len(data) - len(data) % fds.itemsize])
        if head and len(head) < 4:
            head += self._read(4 - len(head), "message")
        return head, list(fds)

    def _read(self, size, what="length"):
        """Exactly `size` bytes; b"" when the stream ends before a message."""
        parts, missing = [], size
        while missing:
            part = self.socket.recv(min(missing, 1 << 20))
            if not part:
                if what == "length" and missing == size:
                    return b""
                raise BrokenPipeError("the stream ended inside a " + what)
            parts.append(part)
            missing -= len(part)
        return b"".join(parts)


def parse(body):
    """A request from its JSON text."""
    try:
        request = json.loads(body.decode())
    except ValueError as error:
        raise Fault("invalid", "the request is not JSON: %s" % error) from None
    if not isinstance(request, dict) or not isinstance(request.get("op"), str):
        raise Fault("invalid", 'a request is an object with a string "op"')
    return request
