"""simulated: runs packages of tensors on the processor, in a worker of the program: `cawb --worker` and its protocol
(core/base/protocol/worker.json). The worker executes kernels that the compiler wrote, and nothing else."""
import array
import atexit
import json
import os
import signal
import socket
import struct
import threading

import torch

from cawb.backend import lowering, recording       # the latter puts cawb_host on the path
from cawb_host.base.shared_memory import open_share
from cawb_host.base.tensors import flat, view
from cawb.process import program

del recording
LIMITS = {"memory": 32 << 20, "instructions": 20000000, "libraries": False}     # as of a run: lua/cawb/base/defaults.lua


class Broken(RuntimeError):
    """A kernel failed, or the worker ended."""


class Worker:
    """A process that has one package loaded at a time."""

    def __init__(self, device):
        ours, theirs = socket.socketpair()
        with theirs:
            os.set_inheritable(theirs.fileno(), True)
            path = program()
            self.pid = os.posix_spawn(path, [path, "--worker"], os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, theirs.fileno(), 3)],
                                       setpgroup=0)                # a terminal's Ctrl-C is for the program alone
        self.socket, self.loaded, self.params = ours, None, None
        self.call({"op": "open", "device": device, "sanitize": True, "figures": lowering.hello(device)["figures"]})

    def call(self, request, shares=()):
        """One request with the descriptors of shares; raises Broken."""
        fds = [share.fd for share in shares]
        body = json.dumps(request).encode()
        extra = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
        try:
            self.socket.sendmsg([struct.pack("<I", len(body))], extra)
            self.socket.sendall(body)
            size, = struct.unpack("<I", self.exactly(4))
            reply = json.loads(self.exactly(size))
        except OSError as error:
            raise Broken("the simulated device ended: %s" % error) from None
        if not reply["ok"]:
            raise Broken(reply.get("message", "it failed without a reason"))
        return reply

    def exactly(self, size):
        data = bytearray()
        while len(data) < size:
            part = self.socket.recv(size - len(data))
            if not part:
                raise Broken("the simulated device ended")
            data += part
        return bytes(data)

    def kill(self):
        """Its end, whatever it is at."""
        os.kill(self.pid, signal.SIGKILL)
        self.close()

    def close(self):
        self.socket.close()
        os.waitpid(self.pid, 0)


workers, lock = {}, threading.Lock()


def worker_of(device):
    if device not in workers:
        workers[device] = Worker(device)
    return workers[device]


def shared(tensors, specs, label):
    """A share with the values of tensors, as its specs place them."""
    share = open_share(max([s["offset"] + s["bytes"] for s in specs] or [0]), torch.device("cpu"), label)
    for tensor, spec in zip(tensors, specs):
        if tensor is not None and tensor.numel():
            part = share.memory[spec["offset"]:spec["offset"] + spec["bytes"]].view(tensor.dtype)
            part.copy_(flat(tensor.detach()))
    return share


# (tensor, size, strides, offset): a tensor over that memory which is no view to PyTorch, so that a program may change it in place.
alone = torch._C._dynamo.guards._reinterpret_tensor            # pylint: disable=protected-access


def describe(share, number):
    return {"size": share.size, "fd": number}


class Simulated:
    """A package on the simulated device. It is loaded again where parameters have changed, so nothing prepared is old."""

    def __init__(self, package, forms, chip, recorded):
        self.package, self.device, self.request, self.forms = package, chip.simulated, recorded.request, forms
        self.places, self.constants = recorded.arguments, recorded.constants

    def load(self, worker, params):
        if worker.loaded is self and torch.equal(worker.params, params.memory):          # a worker takes parameters when it loads
            return
        worker.loaded, worker.params = None, params.memory.clone()
        request = {"op": "load", "ptx": self.package.path("kernel.ptx"), "plan": self.package.text("plan.lua"),
                   "limits": LIMITS, "params_share": describe(params, 0)}
        request.update((name, self.request[name]) for name in ("inputs", "outputs", "params"))
        worker.call(request, [params])
        worker.loaded = self

    def run(self, *args):
        """The computed tensors, in order, of the graph's arguments."""
        given = [*args, *self.constants]
        inputs, params = ([x for x, place in zip(given, self.places) if place and place[0] == role] for role in ("input", "param"))
        specs = [self.request[name] for name in ("inputs", "params", "outputs")]
        shares = [shared(inputs, specs[0], "inputs"), shared(params, specs[1], "params"), shared([], specs[2], "outputs")]
        with lock:
            worker = worker_of(self.device)
            try:
                self.load(worker, shares[1])
                reply = worker.call({"op": "run", "poison": 0x7fc00000, "inputs_share": describe(shares[0], 0),
                                     "outputs_share": describe(shares[2], 1), "params_share": describe(shares[1], 2)},
                                    [shares[0], shares[2], shares[1]])
            except BaseException:              # a reply that nobody reads would be taken for that of the next request
                workers.pop(self.device).kill()
                raise
        if reply["report"].get("races"):
            raise Broken("kernels race: %s" % reply["report"].get("race", "no words"))
        results = [alone(view(shares[2].memory, spec).clone(), *form[:2], 0) for spec, form in zip(specs[2], self.forms)]
        for share in shares:
            share.close()
        return results


os.register_at_fork(after_in_child=workers.clear)              # two processes would take each other's replies


@atexit.register
def close():
    """End all workers."""
    for worker in workers.values():
        worker.close()
    workers.clear()
