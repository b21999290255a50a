"""Whose turn it is: a jailed worker and all its processes stand still outside the worker's own calls.

A control group's freezer (python/cawb_host/judge/jailed/groups.py) enforces that. Without one, signals stop the processes. A timer's SIGCONT
wakes a stopped process, so the processor time of all of them is read when they have stopped, and again before they may go
on. Time in between, or a process that came or went, means that the worker ran in somebody else's turn.
"""
import contextlib
import os
import signal
import time

PATIENCE = 5.0              # seconds until all of a worker's processes stand still


class Gone(Exception):
    """The worker failed: `name` is load, timeout, died or protocol (it did what no worker does),
    and a line about it."""

    def __init__(self, name, message):
        super().__init__(message)
        self.name, self.message = name, message


def of(pid, namespaces, files):
    """How a worker with this process (or guard of a namespace) is made to stand still."""
    return Frozen(pid, namespaces, files) if files.get("freezer") else Stopped(pid, namespaces)


class Turn:
    """`pid` and `inside`, as pids_of() takes them."""

    def halted(self):
        """Whether a signal stopped the worker's first process: in its own turn by itself, or by a process that it started."""
        first = pids_of(self.pid, True)[:1] if self.inside else [self.pid]
        return any(set(states(pid)) == {"T"} for pid in first)


class Frozen(Turn):
    """By a freezer. Both versions' files are read and written in one system call each."""

    def __init__(self, pid, namespaces, files):
        self.pid, self.inside = pid, namespaces
        self.two = files["freezer"].endswith("/cgroup.freeze")
        self.on, self.off = (b"1", b"0") if self.two else (b"FROZEN", b"THAWED")
        self.usage = files.get("usage")
        self.fds = [os.open(files["freezer"], os.O_WRONLY | os.O_CLOEXEC),
                    os.open(files["state"], os.O_RDONLY | os.O_CLOEXEC)]

    def stop(self):
        os.pwrite(self.fds[0], self.on, 0)
        until = time.monotonic() + PATIENCE
        while not self.still():
            if time.monotonic() > until:
                raise Gone("protocol", "its processes did not stand still within %g s" % PATIENCE)

    def still(self):
        said = os.pread(self.fds[1], 256, 0)
        return b"frozen 1" in said if self.two else said.startswith(b"FROZEN")

    def check(self):
        """Nothing to see: it cannot have run."""

    def go(self):
        os.pwrite(self.fds[0], self.off, 0)

    def others(self):
        return pids_of(self.pid, self.inside)[1:]

    def used(self):
        """Seconds of processor time that all of it has had so far; those that ended included."""
        if self.usage is None:
            return 0.0
        with open(self.usage, encoding="ascii") as file:
            words = file.read().split()
        return int(words[1]) / 1e6 if words[0] == "usage_usec" else int(words[0]) / 1e9

    def close(self):
        for fd in self.fds:
            with contextlib.suppress(OSError):
                os.close(fd)
        self.fds = []


class Stopped(Turn):
    """By signals."""

    def __init__(self, pid, namespaces):
        self.pid, self.inside, self.pids, self.seen = pid, namespaces, [], {}

    def stop(self):
        until = time.monotonic() + PATIENCE
        while True:
            self.pids = pids_of(self.pid, self.inside)
            signal_all(self.pids, signal.SIGSTOP)
            if all(stopped(pid) for pid in self.pids) and pids_of(self.pid, self.inside) == self.pids:
                self.seen = spent(self.pids)
                return
            if time.monotonic() > until:
                raise Gone("protocol", "its processes did not stand still within %g s" % PATIENCE)

    def check(self):
        """That none of them has run since they were stopped."""
        pids = pids_of(self.pid, self.inside)
        if pids != self.pids or spent(pids) != self.seen:
            raise Gone("protocol", "it ran while it should stand still, in somebody else's turn")

    def go(self):
        signal_all(self.pids, signal.SIGCONT)

    def others(self):
        return self.pids[1:]

    def used(self):
        return sum(int(ran[0]) for ran in self.seen.values()) / 1e9

    def close(self):
        pass


def pids_of(pid, inside):
    """A worker and all that it started: below the guard of a namespace all but the first; else
    its process group, which nobody in a jail can leave."""
    if not pid:
        return []
    if not inside:
        return [p for p, words in everyone() if int(words[2]) == pid]
    first = children(pid)
    found = [c for p in first for c in children(p)]
    for one in found:
        found.extend(children(one))
    return found


def everyone():
    """Each process of the machine, with what follows its name in /proc/PID/stat."""
    for name in sorted(os.listdir("/proc")):
        if name.isdigit():
            with contextlib.suppress(OSError):
                with open("/proc/%s/stat" % name, encoding="utf-8", errors="replace") as file:
                    yield int(name), file.read().rpartition(")")[2].split()


def children(pid):
    found = []
    with contextlib.suppress(OSError):
        for task in os.listdir("/proc/%d/task" % pid):
            with open("/proc/%d/task/%s/children" % (pid, task), encoding="ascii") as file:
                found += [int(word) for word in file.read().split()]
    return found


def threads(pid, name):
    """What one of the files of /proc says of each of a process's threads."""
    with contextlib.suppress(OSError):
        for task in os.listdir("/proc/%d/task" % pid):
            with open("/proc/%d/task/%s/%s" % (pid, task, name), encoding="utf-8", errors="replace") as file:
                yield task, file.read()


def stopped(pid):
    """Whether no thread of a process can run: stopped, or ended and not asked after."""
    return all(state in "TtZX" for state in states(pid))


def states(pid):
    """A letter for each of a process's threads."""
    return [text.rpartition(")")[2].split()[0] for _, text in threads(pid, "stat")]


def spent(pids):
    """Nanoseconds that each thread has had of a processor, and how often it was given one."""
    return {(pid, task): text.split()[::2] for pid in pids for task, text in threads(pid, "schedstat")}


def signal_all(pids, number):
    for pid in pids:
        with contextlib.suppress(OSError):
            os.kill(pid, number)
