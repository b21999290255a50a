"""The judge's side of a jailed worker (core/jailed): it hands out inputs, stamps the
clock, takes the outputs away and compares them. The worker says only that it is done.

A timed call, which is also a judged call, of content that has never been there:

    the inputs are put into the worker's share, but for a few elements at secret places;
    its places for outputs are poisoned, and the caches are flushed
    start of the clock
    the missing elements follow; "call"; it answers when it has the outputs
    "put" into one place among several, drawn now; it answers when they are there
    they are copied to where the judge compares
    end of the clock

So work that begins before the clock starts has the wrong inputs, work that is left for
later is missing from what is compared, and nobody can have written to the right place
instead of copying. What the exchange itself costs is charged to everyone alike.
"""
import base64
import contextlib
import json
import os
import pickle
import random
import signal
import socket
import struct
import time

import torch

from host.wire.fault import Fault, one_line
from host.wire.protocol import Misfit, protocol
from host.judge.reference import signed
from host.wire.tensors import flat, leaves, place_of, same_bits, store, view
from host.wire.vmm import open_share
from host.judge.watch import leaf_specs

JAILED = protocol("jailed")
MOST_PLACES = 8              # for outputs, and at least two
PLACE_BYTES = 512 << 20
WITHHELD = 64                # elements of each input that come last
UNKNOWN_L2 = 64 << 20

secret = random.SystemRandom()


class Gone(Exception):
    """The worker failed: `name` is load, timeout, died or protocol (it sent what is no answer),
    and a line about it."""

    def __init__(self, name, message):
        super().__init__(message)
        self.name, self.message = name, message


class Peer:
    """The socket to a worker. Whatever it sends is taken for an answer, or ends it."""

    def __init__(self, fd):
        self.socket = socket.socket(fileno=fd)
        self.socket.set_inheritable(False)

    def ask(self, request, deadline, fds=()):
        self.until = time.monotonic() + deadline
        call = secret.getrandbits(52)           # not to be known before it is asked
        body = json.dumps(dict(request, call=call), separators=(",", ":")).encode()
        try:
            self.socket.settimeout(deadline)
            head = struct.pack("<I", len(body))
            if fds:
                sent = socket.send_fds(self.socket, [head], list(fds))
                head = head[sent:]
            self.socket.sendall(head + body)
            return self.answer(request["op"], call)
        except TimeoutError:
            raise Gone("timeout", "it did not answer within %g s" % deadline) from None
        except OSError as error:
            raise Gone("died", "the connection to it broke: %s" % error) from None

    def answer(self, op, call):
        size, = struct.unpack("<I", self.read(4))
        if size > JAILED.reply_bytes:
            raise Gone("protocol", "it announced an answer of %d bytes, at most %d" % (size, JAILED.reply_bytes))
        try:
            return JAILED.reply(op, json.loads(self.read(size).decode()), call)
        except (ValueError, RecursionError):
            raise Gone("protocol", "it sent an answer that is not JSON") from None
        except Misfit as misfit:
            raise Gone("protocol", "its answer to '%s' does not fit core/protocol/jailed.json: %s"
                       % (op, misfit)) from None

    def read(self, size):
        parts = b""
        while len(parts) < size:
            left = self.until - time.monotonic()
            if left <= 0:
                raise TimeoutError
            self.socket.settimeout(left)
            part = self.socket.recv(min(size - len(parts), 1 << 16))
            if not part:
                raise Gone("died", "it ended")
            parts += part
        return parts

    def close(self):
        self.socket.close()


class Jailed:
    """A worker with its own copies of inputs, parameters and places for outputs."""

    def __init__(self, work, sock, about):
        self.work, self.peer, self.pid = work, Peer(sock), int(about.get("pid") or 0)
        self.inside = bool(about.get("namespaces"))
        self.shares = []
        try:
            self.params = self.share(work.params_size, "params")
            self.inputs = self.share(work.inputs_size, "inputs")
            stride = max(work.outputs_size, 256)
            self.count = max(2, min(MOST_PLACES, PLACE_BYTES // stride))
            self.stride = stride
            self.places = self.share(self.count * stride, "outputs")
        except BaseException:
            self.close()
            raise
        self.inputs_at = [place_of(self.inputs.memory, s) for s in leaf_specs(work.inputs)]

    def share(self, size, label):
        self.shares.append(open_share(size, self.work.device, label))
        return self.shares[-1]

    def load(self, about):
        """What the worker says of the file: its census, and how weights were mapped."""
        work, deadline = self.work, about["deadline"]
        state = work.runner.module.state_dict()
        for spec in work.params:
            store(self.params.memory, spec, state[spec["name"]].detach())
        work.settle()
        source = about["source"]
        looked = self.done(self.peer.ask({"op": "look", "source": source}, deadline))
        census = looked["census"]
        if "error" in census:
            raise Gone("load", "the file cannot be read: %s" % one_line(census["error"]))
        values = getattr(work.task.module, "get_init_inputs", list)()
        reply = self.done(self.peer.ask({
            "op": "load", "source": source, "class": about["class"], "mode": about.get("mode"),
            "tf32": about.get("tf32", False), "device": str(work.device),
            "init": base64.b64encode(pickle.dumps(values)).decode(),
            "sizes": [s.size for s in self.shares], "stride": self.stride,
            "inputs": work.inputs, "outputs": work.outputs, "params": work.params},
            deadline, [s.fd for s in self.shares]))
        return {"census": census, "renamed": reply["renamed"], "skipped": reply["skipped"]}

    def done(self, reply):
        if reply["ok"]:
            return reply
        raise Gone("load", one_line(reply.get("message", "it failed")))

    def lay_out(self, trial, poison):
        """All that a call needs but for the elements that come last."""
        for (tensor, _), place in zip(trial.leaves(), self.inputs_at):
            place.copy_(flat(tensor))
        self.held = []
        for (tensor, _), place in zip(trial.leaves(), self.inputs_at):
            if place.numel() == 0:
                continue
            at = torch.tensor([secret.randrange(place.numel()) for _ in range(WITHHELD)],
                              device=place.device)
            self.held.append((place, at, flat(tensor)[at].clone()))
            place[at] = garbage(place, at)
        self.places.memory[:self.count * self.stride].view(torch.int32).fill_(poison)

    def call(self, trial, poison, deadline):
        """(seconds, of which forward as far as it says). The outputs are where the task's
        own share has its first ones."""
        work, slot = self.work, secret.randrange(self.count)
        self.lay_out(trial, poison)
        flush(work)
        work.settle()
        target = work.outputs_share.memory[:work.outputs_size]
        source = self.places.memory[slot * self.stride:slot * self.stride + work.outputs_size]
        started = time.perf_counter()
        for place, at, values in self.held:
            place[at] = values
        work.settle()
        self.done(self.peer.ask({"op": "call"}, deadline))
        ready = time.perf_counter()
        self.done(self.peer.ask({"op": "put", "slot": slot}, deadline))
        target.copy_(source)
        work.settle()
        return time.perf_counter() - started, ready - started

    def changed(self, trial):
        """Names of the inputs that it wrote to."""
        if self.work.runner.changes_inputs:
            return []
        names = []
        for i, (item, spec) in enumerate(zip(trial.inputs, trial.specs)):
            if not all(same_bits(view(self.inputs.memory, s), t) for t, s in leaves(item, spec)):
                names.append("inputs[%d]" % (i + 1))
        return names

    def close(self):
        self.peer.close()
        self.inputs_at, self.held = [], []
        for share in self.shares:
            share.close()
        self.shares = []


def garbage(place, at):
    """Other elements of the same input: nothing tells them from the right ones."""
    return place[(at + secret.randrange(1, 1 << 20)) % place.numel()].flip(0)


def flush(work):
    """Leave a GPU's caches without inputs and outputs; a CPU's stay as they are."""
    if work.device.type != "cuda":
        return
    if not hasattr(work, "flushed"):
        l2 = getattr(torch.cuda.get_device_properties(work.device), "L2_cache_size", 0)
        work.flushed = torch.empty(2 * (l2 or UNKNOWN_L2), dtype=torch.uint8, device=work.device)
    work.flushed.zero_()


def opened(work, name, sock, about):
    """Open a worker under a name. {"census": ..., ...}, or {"failed": why, "how": name}."""
    if name in work.jailed:
        work.jailed.pop(name).close()
    worker = Jailed(work, sock, dict(about))
    try:
        about = dict(about, source=source_of(work, about))
        reply = worker.load(about)
    except Gone as gone:
        worker.close()
        return {"failed": gone.message, "how": gone.name}
    work.jailed[name] = worker
    return reply


def source_of(work, about):
    """The candidate's text; the task's own, which no message needs to carry, else."""
    if about.get("task"):
        return work.task.source
    if not isinstance(about.get("source"), str):
        raise Fault("invalid", "op 'python_open': the field 'source' must be a string")
    return about["source"]


def play(work, order, seed, poison, deadlines, judged, case=None):
    """Everyone in `order` once on the inputs of `seed`, of a kind of battery.py where one is given. {"times": {name: [seconds, forward]},
    "compared": {name: as the op compare}, "failed": {name: {...}}}: a failure ends it."""
    trial, fill = work.begin(seed, signed(poison), case), signed(poison)
    times, compared = {}, {}
    for name in order:
        others = [m for n, m in work.jailed.items() if n != name]
        try:
            with still(others):
                times[name] = work.jailed[name].call(trial, fill, deadlines[name])
        except Gone as gone:
            return {"times": times, "compared": compared,
                    "failed": {"who": name, "how": gone.name, "message": gone.message}}
        if name in judged:
            compared[name] = work.compare(poison)
            compared[name]["changed"] = work.jailed[name].changed(trial)
        work.poisoned.fill_(fill)
    return {"times": times, "compared": compared}


# Everyone but the one whose turn it is stands still.

@contextlib.contextmanager
def still(workers):
    stopped = [pid for worker in workers for pid in pids_of(worker)]
    signal_all(stopped, signal.SIGSTOP)
    try:
        yield
    finally:
        signal_all(stopped, signal.SIGCONT)


def pids_of(worker):
    """A worker and all that it started, without those who guard it."""
    if not worker.pid:
        return []
    first = children(worker.pid) if worker.inside else [worker.pid]
    found = [c for pid in first for c in children(pid)] if worker.inside else first
    for pid in found:
        found.extend(children(pid))
    return found


def children(pid):
    found = []
    try:
        for task in os.listdir("/proc/%d/task" % pid):
            with open("/proc/%d/task/%s/children" % (pid, task), encoding="ascii") as file:
                found += [int(word) for word in file.read().split()]
    except OSError:
        pass
    return found


def signal_all(pids, number):
    for pid in pids:
        with contextlib.suppress(OSError):
            os.kill(pid, number)
