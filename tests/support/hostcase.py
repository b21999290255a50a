"""Starts a task host, talks to it as the judge does, and maps its shares."""
import array
import importlib.util
import json
import mmap
import os
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import textwrap
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PACKAGES = os.path.join(ROOT, "python")
TASKHOST = os.path.join(PACKAGES, "cawb_host")
sys.path.insert(0, PACKAGES)
HAVE_TORCH = importlib.util.find_spec("torch") is not None
POISON = 0x7ff97ff9  # a NaN at every floating width
NATIVE = os.environ.get("CAWB_NATIVE_LIBRARY") or os.path.join(ROOT, "build", "release", "lib", "libcawb_native.so")


class Host:
    """A task host process and our end of its socket. One that is started in the plain way is
    forked from tests/support/warm/server.py where that runs."""

    def __init__(self, env=None, command=None):
        self.socket, theirs = socket.socketpair()
        plain = command is None and env is None
        command = command or '"$0" "$1" --fd "$2"'
        python = plain and os.environ.get("CAWB_WARM_PYTHON") or sys.executable
        with theirs, open(os.devnull, "w") as null:
            number = theirs.fileno()
            self.process = subprocess.Popen(
                ["sh", "-c", "exec " + command, python, TASKHOST, str(number)],
                pass_fds=[number], stdout=subprocess.PIPE, stderr=null,
                env=dict(os.environ, **(env or {})))

    def send_raw(self, body, size=None):
        self.socket.sendall(struct.pack("<I", len(body) if size is None else size) + body)

    def receive(self):
        """(reply, file descriptors)"""
        fds = array.array("i")
        head, extra, _, _ = self.socket.recvmsg(4, socket.CMSG_SPACE(16 * fds.itemsize))
        for level, kind, data in extra:
            assert (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS)
            fds.frombytes(data[:len(data) // fds.itemsize * fds.itemsize])
        if len(head) < 4:
            raise EOFError("the task host is gone")
        size, = struct.unpack("<I", head)
        body = b""
        while len(body) < size:
            body += self.socket.recv(size - len(body))
        return json.loads(body.decode()), list(fds)

    def call(self, op, **fields):
        self.send_raw(json.dumps(dict(fields, op=op)).encode())
        reply, fds = self.receive()
        for fd in fds:
            os.close(fd)
        return reply

    def close(self):
        """Ends the host as the judge does; its exit status."""
        self.socket.close()
        status = self.process.wait()
        self.process.stdout.close()
        return status


class Loaded:
    """A loaded task: the reply, and its shares as writable bytes."""

    def __init__(self, host, path, **fields):
        self.host = host
        fields = dict({"device": "cpu", "overrides": {}, "init_seed": 7, "native": NATIVE}, **fields)
        host.send_raw(json.dumps(dict(fields, op="load", path=path)).encode())
        self.reply, fds = host.receive()
        self.shares = dict(zip(("params", "inputs", "outputs"),
                               (mmap.mmap(fd, 0) for fd in fds)))
        for fd in fds:
            os.close(fd)

    def inputs(self, seed, poison=POISON):
        return self.host.call("inputs", seed=seed, poison=poison)

    def compare(self, poison=POISON, **fields):
        return self.host.call("compare", poison=poison, **fields)

    def tensor(self, share, spec):
        """A tensor over a share's bytes, as a worker sees it."""
        import torch
        memory = torch.frombuffer(self.shares[share], dtype=torch.uint8)
        part = memory[spec["offset"]:spec["offset"] + spec["bytes"]]
        return part.view(getattr(torch, spec["dtype"])).as_strided(spec["shape"], spec["strides"])

    def input(self, i=0):
        return self.tensor("inputs", self.reply["inputs"][i])

    def output(self, i=0, slot=0):
        spec = self.reply["outputs"][i]
        start = spec["offset"] + slot * self.reply["outputs_stride"]
        return self.tensor("outputs", dict(spec, offset=start))

    def param(self, name):
        spec, = [p for p in self.reply["params"] if p["name"] == name]
        return self.tensor("params", spec)


@unittest.skipUnless(HAVE_TORCH, "this Python has no PyTorch")
class TaskCase(unittest.TestCase):
    """One host for all tests of a class; task files in a folder of their own."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="cawb-test-")
        cls.host = Host()

    @classmethod
    def tearDownClass(cls):
        status = cls.host.close()
        shutil.rmtree(cls.folder)
        assert status == 0, "the host ended with %s" % status

    def write(self, text, name="foo.py"):
        path = os.path.join(self.folder, name)
        with open(path, "w") as file:
            file.write(textwrap.dedent(text).lstrip("\n"))
        return path

    def load(self, text, **fields):
        loaded = Loaded(self.host, self.write(text), **fields)
        self.assertTrue(loaded.reply["ok"], loaded.reply.get("message"))
        return loaded

    def refuse(self, text, **fields):
        """The reply to a load that must fail."""
        reply = Loaded(self.host, self.write(text), **fields).reply
        self.assertFalse(reply["ok"])
        return reply


def task(forward, inputs, head="", init="[]", setup="pass"):
    """The text of a task whose forward(self, *args) has this body."""
    return "\n".join([
        "import torch", "import torch.nn as nn", "import torch.nn.functional as F", head,
        "class Model(nn.Module):",
        "    def __init__(self, *init):", "        super().__init__()", "        " + setup,
        "    def forward(self, *args):", "        x = args[0]", "        " + forward,
        "def get_inputs():", "    return " + inputs,
        "def get_init_inputs():", "    return " + init, ""])
