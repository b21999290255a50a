"""The jail's limits: disk, files, memory and processes; and that nothing outlives it."""
import os
import signal
import time
import unittest
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "support"))

from jailcase import LIMITS, REPORT, Jailed, inside, processes


# Acts

def fork_many(count):
    children = []
    try:
        for _ in range(count):
            pid = os.fork()
            if pid == 0:
                signal.pause()
            children.append(pid)
        return "done"
    finally:
        for pid in children:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


def write_much(size):
    with open("large", "wb") as file:
        file.write(bytes(size))
    return "done"


def allocate(size):
    return len(bytearray(size)) and "done"


def leave_process():
    pid = os.fork()
    if pid == 0:
        try:
            os.setsid()
        except OSError:
            pass
        if os.fork() == 0:
            os.close(REPORT)             # whoever waits for it waits for the jail
            for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
                signal.signal(number, signal.SIG_IGN)
            time.sleep(600)
        os._exit(0)
    os.waitpid(pid, 0)
    return "done"


class Jail(Jailed):
    def test_the_disk_is_small(self):
        if self.level != "namespaces":
            self.skipTest("without a file system of its own only files have a limit")
        self.denied(write_much, 4 << 20)

    def test_files_have_a_limit(self):
        def too_large():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            return write_much(LIMITS["file"] + 4096)
        self.denied(too_large)

    def test_memory_has_a_limit(self):
        self.assertRegex(inside(self.level, allocate, LIMITS["memory"]), "^denied: ")

    def test_processes_have_a_limit(self):
        if self.level != "namespaces" and os.geteuid() == 0:
            self.skipTest("without namespaces root's processes are not counted")
        self.denied(fork_many, 60)

    def test_nothing_outlives_it(self):
        before = set(processes())
        self.assertEqual(inside(self.level, leave_process), "done")
        deadline = time.monotonic() + 5
        while self.strangers(before) and time.monotonic() < deadline:
            time.sleep(0.01)
        self.assertEqual(self.strangers(before), [])

    def strangers(self, before):
        """Processes that sleep for ten minutes on this test's behalf."""
        found = []
        for pid in set(processes()) - before:
            try:
                with open("/proc/%d/cmdline" % pid, encoding="utf-8") as file:
                    if os.path.basename(__file__) in file.read() and pid != os.getpid():
                        found.append(pid)
            except OSError:
                pass
        return found


class Namespaces(Jail):
    level = "namespaces"


class Landlock(Jail):
    level = "landlock"


del Jail


if __name__ == "__main__":
    unittest.main()
