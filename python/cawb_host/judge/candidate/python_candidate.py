"""The judge's side of a jailed worker (python/cawb_host/judge/jailed): it hands out inputs, stamps the
clock, takes the outputs away and compares them. The worker says only that it is done.

A timed call, which is also a judged call, of content that has never been there:

    the worker stands still, with all that it started (turns.py)
    its inputs are put into its share; its places for outputs are poisoned; caches are flushed
    start of the clock
    it may go on; "call", with a number drawn now; it answers when it has the outputs
    "put" into one place among several, drawn now; it answers when they are there
    they are copied to where the judge compares
    end of the clock; it stands still again

So no work can begin before the clock starts: no input existed while the worker ran. Work that is left for later is missing
from the comparison. And the worker cannot write to the right place ahead instead of copying. On a GPU kernels go on while
processes stand still: the time of the judge's own kernels shows them (busy()). The cost of the exchange is charged to
everyone alike.
"""
import base64
import json
import os
import pickle
import random
import socket
import struct
import time

import torch

from cawb_host.base.fault import Fault, Refused, one_line
from cawb_host.base.protocol import Misfit, protocol
from cawb_host.judge.candidate import turns
from cawb_host.judge.compare.reference import signed
from cawb_host.judge.candidate.turns import Gone
from cawb_host.base.forms import state_of
from cawb_host.base.tensors import flat, leaves, place_of, same_bits, store, view
from cawb_host.base.vmm import open_share
from cawb_host.judge.compare.watch import leaf_specs
from cawb_host.judge.candidate.work import Work

JAILED = protocol("jailed")
MOST_PLACES = 8              # for outputs, and at least two
PLACE_BYTES = 512 << 20
UNKNOWN_L2 = 64 << 20
LOOK = 0.5                   # s between looks at one that does not answer
WATCHED = 0.5                # s that are looked at for somebody else
PROBES, IDLE = 20, 500e-6    # of a GPU that nobody else should use; s, ten times what one takes

secret = random.SystemRandom()          # of numbers that name a call: no verdict depends on which they are


def place_for(seed, count):
    """Which of its places a worker copies its outputs to: nobody can tell from the inputs that the seed made."""
    return random.Random("places %d" % seed).randrange(count)


class Peer:
    """The socket to a worker. Whatever it sends is taken for an answer, or ends it. One that `halted` tells of twice in
    a row is not waited for: nobody lets it go on."""

    def __init__(self, fd, halted=lambda: False):
        self.socket, self.halted = socket.socket(fileno=fd), halted
        self.socket.set_inheritable(False)

    def ask(self, request, deadline, fds=()):
        self.until = time.monotonic() + deadline
        call = secret.getrandbits(52)           # not to be known before it is asked
        body = json.dumps(dict(request, call=call), separators=(",", ":")).encode()
        try:
            self.nothing_yet()
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

    def nothing_yet(self):
        """Whatever is there before the question was not its answer."""
        self.socket.setblocking(False)
        try:
            if self.socket.recv(1, socket.MSG_PEEK):
                raise Gone("protocol", "it sent an answer ahead of the question")
            raise Gone("died", "it ended")
        except BlockingIOError:
            pass

    def answer(self, op, call):
        size, = struct.unpack("<I", self.read(4))
        if size > JAILED.reply_bytes:
            raise Gone("protocol", "it announced an answer of %d bytes, at most %d" % (size, JAILED.reply_bytes))
        try:
            return JAILED.reply(op, json.loads(self.read(size).decode()), call)
        except (ValueError, RecursionError):
            raise Gone("protocol", "it sent an answer that is not JSON") from None
        except Misfit as misfit:
            raise Gone("protocol", "its answer to '%s' does not fit core/base/protocol/jailed.json: %s"
                       % (op, misfit)) from None

    def read(self, size):
        parts = b""
        while len(parts) < size:
            part = self.part(size - len(parts))
            if not part:
                raise Gone("died", "it ended")
            parts += part
        return parts

    def part(self, most):
        """What comes next, however long that takes within the deadline."""
        halted = False
        while (left := self.until - time.monotonic()) > 0:
            self.socket.settimeout(min(left, LOOK))
            try:
                return self.socket.recv(min(most, 1 << 16))
            except TimeoutError:
                before, halted = halted, self.halted()
            if before and halted:
                raise Gone("timeout", "it has stopped itself")
        raise TimeoutError

    def close(self):
        self.socket.close()


class Jailed:
    """A worker with its own copies of inputs, parameters and places for outputs."""

    def __init__(self, work, sock, about):
        self.work, self.pid = work, int(about.get("pid") or 0)
        self.turn = turns.of(self.pid, bool(about.get("namespaces")), about.get("group") or {})
        self.peer = Peer(sock, self.turn.halted)
        self.seconds = about.get("seconds") or float("inf")
        self.shares = []
        try:
            self.params = self.share(work.params_size, "params")
            self.inputs = self.share(work.inputs_size, "inputs")
            stride = max(work.outputs_size, 256)
            self.count = max(2, min(MOST_PLACES, PLACE_BYTES // stride))
            self.stride = stride
            self.places = self.share(self.count * stride, "outputs")
            self.work_seen = Work()
            self.shares.append(self.work_seen)
        except BaseException:
            self.close()
            raise
        self.inputs_at = [place_of(self.inputs.memory, s) for s in leaf_specs(work.inputs)]

    def share(self, size, label):
        self.shares.append(open_share(size, self.work.device, label))
        return self.shares[-1]

    def load(self, about):
        """The worker's report about the file: its census, and how weights were mapped."""
        work, deadline = self.work, about["deadline"]
        state = state_of(work.runner.module)
        for spec in work.params:
            store(self.params.memory, spec, state[spec["name"]])
        work.settle()
        source = about["source"]
        files = {"files": about["files"]} if about.get("files") else {}
        looked = self.done(self.peer.ask(dict({"op": "look", "source": source}, **files), deadline))
        census = looked["census"]
        if "error" in census:
            raise Gone("load", "the file cannot be read: %s" % one_line(census["error"]))
        values = work.task.init_inputs()
        reply = self.done(self.peer.ask(dict(files, **{
            "op": "load", "source": source, "class": about["class"], "mode": about.get("mode"),
            "tf32": about.get("tf32", False), "device": str(work.device),
            "init_seed": work.runner.init_seed, "init": base64.b64encode(pickle.dumps(values)).decode(),
            "sizes": [s.size for s in self.shares], "stride": self.stride,
            "inputs": work.inputs, "form": work.task.form.describe(), "outputs": work.outputs, "params": work.params}),
            deadline, [s.fd for s in self.shares]))
        return {"census": census, "renamed": reply["renamed"], "skipped": reply["skipped"]}

    def done(self, reply):
        if reply["ok"]:
            return reply
        raise Gone("load", one_line(reply.get("message", "it failed")))

    def lay_out(self, trial, poison):
        """All that a call needs, while the worker stands still."""
        for (tensor, _), place in zip(trial.leaves(), self.inputs_at):
            place.copy_(flat(tensor))
        self.places.memory[:self.count * self.stride].view(torch.int32).fill_(poison)

    def call(self, trial, poison, deadline):
        """(seconds, seconds of forward if it says so). The outputs lie at the first place in the task's own share."""
        work, slot = self.work, place_for(trial.seed, self.count)
        self.lay_out(trial, poison)
        flush(work)
        work.settle()
        target = work.outputs_share.memory[:work.outputs_size]
        source = self.places.memory[slot * self.stride:slot * self.stride + work.outputs_size]
        busy(work)
        self.turn.check()
        started = time.perf_counter()
        self.turn.go()
        self.done(self.peer.ask({"op": "call"}, deadline))
        ready = time.perf_counter()
        self.done(self.peer.ask({"op": "put", "slot": slot}, deadline))
        target.copy_(source)
        work.settle()
        ended = time.perf_counter()
        self.rest()
        busy(work)
        return ended - started, ready - started

    def rest(self):
        """Stand still until the next call."""
        self.turn.stop()
        self.work_seen.note_programs(self.turn.others())
        self.work_seen.note_started()
        self.work_seen.must_go_on()
        if self.turn.used() > self.seconds:
            raise Gone("timeout", "its processes had %g s of processor time, all together; the limit"
                       " is %g" % (self.turn.used(), self.seconds))

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
        self.turn.close()
        self.inputs_at = []
        for share in self.shares:
            share.close()
        self.shares = []


def busy(work):
    """That no kernel of anybody else's runs on the GPU: one that does takes turns with the
    judge's, of milliseconds, and a short kernel waits for its own. The least of a few, so
    that a machine that is busy itself is not taken for a GPU that is. Whose it was is asked when
    the worker has ended: shared()."""
    if work.device.type != "cuda":
        return
    least = float("inf")
    for _ in range(PROBES):
        least = min(least, short(work))
        if least < IDLE:
            return
    raise Gone("busy", "its kernels ran on while it should stand still, in somebody else's turn"
               " (a kernel of the judge's took %.0f us)" % (least * 1e6))


def short(work):
    """Seconds of a short kernel."""
    started = time.perf_counter()
    work.poisoned[:1].add_(0)
    work.settle()
    return time.perf_counter() - started


def shared(work):
    """Whether kernels of somebody else's run on the GPU where no worker goes: seconds of the longest of some short ones,
    where that is too long; 0 else. What others do on it comes in bursts, so it is looked at for a while."""
    if work.device.type != "cuda":
        return 0.0
    until = time.perf_counter() + WATCHED
    longest = 0.0
    while longest < IDLE and time.perf_counter() < until:
        longest = short(work)
    return longest if longest >= IDLE else 0.0


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
        worker.rest()
        worker.work_seen.begin_calls()
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
    fill, times, compared = signed(poison), {}, {}
    try:
        trial = work.begin(seed, fill, case)
    except Refused as refused:
        return {"times": times, "compared": compared, "refused": one_line(refused)}
    for name in order:
        try:
            times[name] = work.jailed[name].call(trial, fill, deadlines[name])
        except Gone as gone:
            return {"times": times, "compared": compared,
                    "failed": {"who": name, "how": gone.name, "message": gone.message}}
        if name in judged:
            compared[name] = work.compare(poison)
            compared[name]["changed"] = work.jailed[name].changed(trial)
        work.poisoned.fill_(fill)
    return {"times": times, "compared": compared}
