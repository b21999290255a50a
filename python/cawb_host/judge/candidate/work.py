"""The observed work of a jailed worker's process: the page that core/judge/watch/watch.cpp writes.

The page is the worker's memory too, so whatever lies in it is taken for data with bounds.
"""
import os
import struct

from cawb_host.judge.candidate.turns import Gone
from cawb_host.base.shared_memory import FileShare

SIZE = 256 << 10
HEAD, ENTRY = 64, struct.Struct("<IIQQQ224s")
LABEL = "work"                                # as its mapping is called in /proc/PID/maps
LOADING, CALLS = 0, 1
IDLE_NS = 100000                              # of processor time, in a call: who does less only waits


class Work:
    def __init__(self):
        self.share = FileShare(SIZE, LABEL)
        self.size, self.fd = SIZE, self.share.fd
        self.events, self.programs, self.had, self.started = 0, {}, {}, {}

    def begin_calls(self):
        struct.pack_into("<I", self.share.map, 0, CALLS)

    def head(self):
        """(entries, lost, means, events)"""
        return struct.unpack_from("<IIIQ", self.share.map, 4)

    def entries(self):
        """(name, phase, count, largest) of each."""
        for i in range(min(self.head()[0], (SIZE - HEAD) // ENTRY.size)):
            ready, phase, count, largest, _, name = ENTRY.unpack_from(self.share.map, HEAD + i * ENTRY.size)
            if ready:
                yield "".join(chr(b) if 32 <= b < 127 else "?" for b in name.split(b"\0")[0]), phase, count, largest

    def note_started(self):
        """In how many calls it started programs: a compiler's first call starts many at once."""
        for name, phase, count, _ in self.entries():
            if phase == CALLS and name.startswith("program ") and count > self.started.get(name, 0):
                self.started[name] = count
                self.programs[name[8:72]] = self.programs.get(name[8:72], 0) + 1

    def must_go_on(self):
        """A call copies its outputs at least: a watcher that saw nothing was stopped."""
        _, _, means, events = self.head()
        if means and events <= self.events:
            raise Gone("protocol", "what it does could not be seen any more: it has stopped its watcher")
        self.events = events

    def note_programs(self, pids):
        """Processes that are none of the worker's forks and had processor time since the last
        call: nobody sees what they do."""
        for pid in pids:
            try:
                with open("/proc/%d/schedstat" % pid, encoding="ascii") as file:
                    had, before = int(file.read().split()[0]), self.had.get(pid, 0)
                self.had[pid] = had
                if had - before < IDLE_NS:
                    continue
                with open("/proc/%d/maps" % pid, encoding="utf-8", errors="replace") as file:
                    if "memfd:cawb-" + LABEL in file.read():
                        continue
                name = os.path.basename(os.readlink("/proc/%d/exe" % pid))
            except (OSError, ValueError, IndexError):
                continue                      # it has ended, or is not ours to look at
            self.programs[name[:64]] = self.programs.get(name[:64], 0) + 1

    def told(self):
        """{"means": [...], "lost": n, "seen": [{name, phase, count, largest}]}."""
        _, lost, means, _ = self.head()
        found = {}
        for name, phase, count, largest in self.entries():
            if phase == CALLS and name.startswith("program "):
                continue                      # below, by calls
            old = found.get((name, phase), (0, 0))
            found[name, phase] = (old[0] + count, max(old[1], largest))
        for name, count in self.programs.items():
            found["program " + name, CALLS] = (count, 0)
        return {"means": [word for bit, word in ((1, "operators"), (2, "kernels"), (4, "python")) if means & bit],
                "lost": lost,
                "seen": [{"name": name, "calls": phase != LOADING, "count": min(count, 1 << 53),
                          "largest": min(largest, 1 << 53)} for (name, phase), (count, largest) in found.items()]}

    def close(self):
        self.share.close()
