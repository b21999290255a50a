"""What watches a candidate's processes: that they stand still when it is not their turn, that their memory is bounded together, and what is
said where there is no process left."""
import errno
import os
import signal
import socket
import sys
import tempfile
import unittest
from unittest import mock

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
sys.path.insert(0, os.path.join(ROOT, "python"))

from cawb_host.judge.candidate import turns  # noqa: E402  pylint: disable=wrong-import-position
from cawb_host.judge.candidate.python_candidate import Peer  # noqa: E402  pylint: disable=wrong-import-position
from cawb_host.judge.jailed import groups, inmates  # noqa: E402  pylint: disable=wrong-import-position


class Turns(unittest.TestCase):
    """A worker that stands still has no processor time, and one that had some is told."""

    def setUp(self):
        self.read, self.write = os.pipe()
        self.group = groups.Group("cawb-%d-test" % os.getpid(), {"memory": 1 << 30, "processes": 50})
        self.addCleanup(self.group.end)

    def spinner(self):
        pid = os.fork()
        if pid == 0:
            os.setpgid(0, 0)
            self.group.join()
            os.write(self.write, b"x")
            while True:
                pass
        self.addCleanup(os.waitpid, pid, 0)
        self.addCleanup(os.kill, pid, signal.SIGKILL)
        os.read(self.read, 1)
        return pid

    def test_a_freezer_holds_what_a_signal_would_wake(self):
        if "freezer" not in self.group.files:
            self.skipTest("this machine lets nobody make control groups")
        pid = self.spinner()
        turn = turns.of(pid, False, self.group.files)
        self.addCleanup(turn.close)
        turn.stop()
        before = turns.spent([pid])
        os.kill(pid, signal.SIGCONT)
        sum(range(1000000))
        self.assertEqual(turns.spent([pid]), before)
        turn.check()
        turn.go()
        while turns.spent([pid]) == before:
            pass
        turn.stop()
        self.assertGreater(turn.used(), 0)

    def test_who_was_woken_between_its_calls_is_told(self):
        pid = self.spinner()
        turn = turns.of(pid, False, {})
        turn.stop()
        turn.check()
        os.kill(pid, signal.SIGCONT)
        while turns.spent([pid]) == turn.seen:
            pass
        with self.assertRaisesRegex(turns.Gone, "somebody else's turn"):
            turn.check()

    def test_who_stops_himself_is_not_waited_for(self):
        pid = self.spinner()
        ours, theirs = socket.socketpair()
        self.addCleanup(theirs.close)
        turn = turns.of(pid, False, {})
        peer = Peer(ours.detach(), turn.halted)
        self.addCleanup(peer.close)
        self.assertFalse(turn.halted())
        os.kill(pid, signal.SIGSTOP)
        with self.assertRaisesRegex(turns.Gone, "it has stopped itself"):
            peer.ask({"op": "call"}, 3600)
        os.kill(pid, signal.SIGCONT)
        self.assertFalse(turn.halted())

    def test_memory_is_bounded_for_all_processes_together(self):
        if "memory" not in self.group.has:
            self.skipTest("this machine bounds no group's memory")
        pid = os.fork()
        if pid == 0:
            self.group.join()
            held = []
            while len(held) < 40:          # 64 MiB each, in files in memory that nobody maps
                held.append(os.memfd_create("more"))
                for _ in range(64):
                    os.write(held[-1], bytes(1 << 20))
            os._exit(0)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), -signal.SIGKILL)


class Scarce(unittest.TestCase):
    def test_a_fork_that_fails_says_what_is_scarce_and_leaves_nothing(self):
        found = inmates.Inmates(confinement=None)
        before, folders = os.listdir("/proc/self/fd"), set(os.listdir(tempfile.gettempdir()))
        failed = BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
        with mock.patch.object(os, "fork", side_effect=failed), self.assertRaises(OSError) as caught:
            found.spawn({"jail": "landlock", "groups": False}, None)
        self.assertEqual(len(os.listdir("/proc/self/fd")), len(before))
        self.assertEqual([f for f in set(os.listdir(tempfile.gettempdir())) - folders if f.startswith("cawb-jail-")], [])
        self.assertEqual(found.all, {})
        fault = inmates.scarce(caught.exception)
        self.assertEqual(fault.name, "scarce")
        self.assertIn("no processes left", fault.message)

    def test_other_failures_are_not_for_want_of_anything(self):
        for error in (ValueError("x"), PermissionError(errno.EPERM, "no")):
            self.assertIsNone(inmates.scarce(error))


if __name__ == "__main__":
    unittest.main()
