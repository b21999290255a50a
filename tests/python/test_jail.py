"""The jail, from inside: every denial denies, and what a candidate needs is there.

Each act is tried outside first, where it must succeed (or it shows nothing), and then in
a jail of every level that this machine has.
"""
import ctypes
import errno
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
from unittest import mock

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "core"))

from host.judge import turns  # noqa: E402  pylint: disable=wrong-import-position
from host.judge.python_candidate import Peer  # noqa: E402  pylint: disable=wrong-import-position
from jailed import confine, groups, inmates  # noqa: E402  pylint: disable=wrong-import-position

LIBRARY = os.environ.get("CAWB_JAIL_LIBRARY",
                         os.path.join(ROOT, "build", "release", "lib", "libcawb_jail.so"))
CONFINEMENT = confine.Confinement(LIBRARY)
LIMITS = {"disk": 1 << 20, "processes": 30, "file": 1 << 26, "memory": 1 << 31, "seconds": 60}
LIBC = ctypes.CDLL(None, use_errno=True)
PTRACE_ATTACH, NEW_USER = 16, 0x10000000


REPORT = 200                # where an act in a jail tells what became of it


def inside(level, act, *arguments, more=()):
    """What `act` returns in a jail of this level: a value of JSON, or "denied: why"."""
    read, write = os.pipe()
    folder = confine.private_folder(level)
    pid = os.fork()
    if pid == 0:
        try:
            os.setpgid(0, 0)
            os.dup2(write, REPORT)
            os.closerange(3, REPORT)
            os.closerange(REPORT + 1, 4096)
            confine.set_environment(folder)
            CONFINEMENT.enter(level, "\n".join([confine.describe(level, LIMITS, folder), *more]))
            os.chdir(folder or "/tmp")
            os.write(REPORT, json.dumps(attempt(act, *arguments)).encode())
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as file:
        text = file.read()
    try:
        os.killpg(pid, signal.SIGTERM if level == "namespaces" else signal.SIGKILL)
    except OSError:
        pass
    os.waitpid(pid, 0)
    confine.remove(folder)
    return json.loads(text.decode()) if text else "lost"


def attempt(act, *arguments):
    try:
        return act(*arguments)
    except (OSError, MemoryError) as error:
        return "denied: %s" % error


# Acts

def write_file(path):
    with open(path, "w", encoding="ascii") as file:
        file.write("x")
    return "done"


def read_file(path):
    with open(path, "rb") as file:
        return len(file.read(100)) >= 0 and "done"


def make_socket(family):
    with socket.socket(family):
        return "done"


def listen(kind):
    with socket.socket(socket.AF_UNIX, kind) as one:
        one.bind("\0cawb-test-jail")
        if kind != socket.SOCK_DGRAM:
            one.listen(1)
        return "done"


def connect(name):
    with socket.socket(socket.AF_UNIX) as one:
        one.connect(name)
        return "done"


def rename_thread():
    with open("/proc/self/task/%d/comm" % os.getpid(), "w", encoding="ascii") as file:
        file.write("named")
    return "done"


def send_signal(pid):
    os.kill(pid, 0)
    return "done"


def call(name, *arguments):
    ctypes.set_errno(0)
    if getattr(LIBC, name)(*arguments) == -1:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return "done"


def trace(pid):
    call("ptrace", PTRACE_ATTACH, pid, None, None)
    os.waitpid(pid, 0x40000000)
    LIBC.ptrace(17, pid, None, None)
    return "done"


def read_memory(pid, address):
    class Piece(ctypes.Structure):
        _fields_ = [("base", ctypes.c_void_p), ("size", ctypes.c_size_t)]
    room = ctypes.create_string_buffer(8)
    mine, theirs = Piece(ctypes.addressof(room), 8), Piece(address, 8)
    return call("process_vm_readv", pid, ctypes.byref(mine), 1, ctypes.byref(theirs), 1, 0)


def open_descriptors():
    return sorted(fd for fd in range(1024) if is_open(fd))


def is_open(fd):
    try:
        os.fstat(fd)
        return True
    except OSError:
        return False


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


def run_compiler():
    with open("x.c", "w", encoding="ascii") as file:
        file.write("int main(void) { return 0; }")
    return subprocess.call(["cc", "-o", "x", "x.c"]) or subprocess.call(["./x"])


def look_outside(path):
    """The same confinement holds for what it starts."""
    return subprocess.run(["/bin/cat", path], capture_output=True, check=False).returncode


def write_elsewhere(path):
    return subprocess.run(["/bin/sh", "-c", "echo x > %s" % path], capture_output=True,
                          check=False).returncode


def processes():
    return sorted(int(name) for name in os.listdir("/proc") if name.isdigit())


class Jail(unittest.TestCase):
    level = None

    def setUp(self):
        why = CONFINEMENT.probe(self.level)["not"].get(self.level)
        if why:
            self.skipTest(why)
        self.folder = tempfile.mkdtemp(prefix="cawb-test-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.folder)

    def denied(self, act, *arguments):
        self.assertEqual(attempt(act, *arguments), "done", "it fails outside, too")
        self.assertRegex(str(inside(self.level, act, *arguments)), "^denied: ")

    def allowed(self, act, *arguments):
        self.assertEqual(inside(self.level, act, *arguments), "done")

    def bystander(self):
        child = subprocess.Popen(["/bin/sleep", "600"])
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)
        return child.pid

    def test_a_host_that_is_killed_leaves_nobody(self):
        read, write = os.pipe()
        host = os.fork()
        if host == 0:
            folder = confine.private_folder(self.level)
            worker = os.fork()
            if worker == 0:
                os.setpgid(0, 0)
                LIBC.prctl(1, signal.SIGKILL, 0, 0, 0)      # as inmates.arrange() has it
                confine.set_environment(folder)
                CONFINEMENT.enter(self.level, confine.describe(self.level, LIMITS, folder))
                os.write(write, b"x")
            while True:
                signal.pause()
        os.close(write)
        with os.fdopen(read, "rb", buffering=0) as file:
            self.assertEqual(file.read(1), b"x")
            os.kill(host, signal.SIGKILL)
            os.waitpid(host, 0)
            self.assertTrue(select.select([file], [], [], 60)[0], "its worker goes on")
            self.assertEqual(file.read(1), b"")

    def test_files_outside_cannot_be_written(self):
        for path in (os.path.join(self.folder, "x"), "/var/tmp/cawb-test-jail"):
            self.addCleanup(lambda p=path: os.path.exists(p) and os.remove(p))
            self.denied(write_file, path)
        inside(self.level, write_file, "/dev/shm/cawb-test-jail")  # its own, or none
        self.assertFalse(os.path.exists("/dev/shm/cawb-test-jail"))
        self.assertRegex(inside(self.level, write_file, "/usr/cawb-test"), "^denied: ")
        self.allowed(write_file, "own")

    def test_files_outside_cannot_be_read(self):
        path = os.path.join(self.folder, "secret")
        write_file(path)
        self.denied(read_file, path)
        self.denied(read_file, os.path.join(ROOT, "core", "host", "judge", "judge.py"))
        self.allowed(read_file, "/bin/sh")

    def test_what_it_starts_is_confined_too(self):
        path = os.path.join(self.folder, "secret")
        write_file(path)
        self.assertEqual(look_outside(path), 0)
        self.assertNotEqual(inside(self.level, look_outside, path), 0)
        self.assertNotEqual(inside(self.level, write_elsewhere, path), 0)

    def test_no_sockets(self):
        for family in (socket.AF_INET, socket.AF_INET6, socket.AF_UNIX):
            self.denied(make_socket, family)

    def test_listening_is_not_connecting(self):
        more = ["listen"]
        for kind in (socket.SOCK_STREAM, socket.SOCK_SEQPACKET):
            self.assertEqual(inside(self.level, listen, kind, more=more), "done")
        self.assertRegex(inside(self.level, listen, socket.SOCK_DGRAM, more=more), "^denied: ")
        self.assertRegex(inside(self.level, make_socket, socket.AF_INET, more=more), "^denied: ")
        with socket.socket(socket.AF_UNIX) as server:
            server.bind("\0cawb-test-jail-outside")
            server.listen(1)
            self.assertEqual(connect("\0cawb-test-jail-outside"), "done")
            self.assertRegex(inside(self.level, connect, "\0cawb-test-jail-outside", more=more),
                             "^denied: ")

    def test_threads_are_named_where_that_is_asked_for(self):
        self.denied(rename_thread)
        self.assertEqual(inside(self.level, rename_thread, more=["threads"]), "done")
        pid = self.bystander()
        self.assertRegex(inside(self.level, write_file, "/proc/%d/comm" % pid, more=["threads"]),
                         "^denied: ")
        for path in ("/proc/sys/kernel/hostname", "/proc/sysrq-trigger", "/proc/1/comm"):
            self.assertRegex(inside(self.level, write_file, path, more=["threads"]), "^denied: ")

    def test_other_processes_cannot_be_touched(self):
        pid = self.bystander()
        self.denied(send_signal, pid)
        self.denied(send_signal, os.getpid())
        self.denied(read_file, "/proc/%d/environ" % pid)
        self.denied(read_file, "/proc/%d/maps" % pid)

    def test_the_judge_is_out_of_reach(self):
        pid, limit = self.bystander(), (ctypes.c_ulong * 2)(1 << 30, 1 << 30)
        one = (ctypes.c_ulong * 16)(1)
        size = ctypes.sizeof(one)
        self.denied(call, "prlimit", pid, 4, ctypes.byref(limit), None)
        self.denied(call, "sched_setaffinity", pid, size, ctypes.byref((ctypes.c_ulong * 16)(*16 * [~0 & 0xffffffff])))
        self.denied(call, "setpriority", 0, pid, 19)
        self.allowed(call, "prlimit", 0, 4, None, ctypes.byref(limit))

    def test_no_debugging(self):
        self.denied(trace, self.bystander())
        room = ctypes.create_string_buffer(8)
        self.denied(read_memory, os.getpid(), ctypes.addressof(room))

    def test_no_privileges(self):
        self.assertRegex(inside(self.level, call, "unshare", NEW_USER), "^denied: ")
        self.assertRegex(inside(self.level, call, "mount", b"none", b"/tmp", b"tmpfs", 0, None), "^denied: ")
        self.assertRegex(inside(self.level, call, "chroot", b"/tmp"), "^denied: ")
        self.assertRegex(inside(self.level, call, "setuid", 12345), "^denied: ")

    def test_descriptors_do_not_get_there(self):
        self.assertEqual(inside(self.level, open_descriptors), [0, 1, 2, REPORT])

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
                    if "test_jail" in file.read() and pid != os.getpid():
                        found.append(pid)
            except OSError:
                pass
        return found

    def test_a_compiler_works(self):
        if shutil.which("cc") is None:
            self.skipTest("there is no compiler")
        self.assertEqual(inside(self.level, run_compiler), 0)

    def test_its_own_proc_is_there(self):
        self.allowed(read_file, "/proc/self/maps")
        self.allowed(read_file, "/proc/cpuinfo")


class Namespaces(Jail):
    level = "namespaces"

    def test_it_sees_no_other_process(self):
        self.assertEqual(inside(self.level, processes), [1, 2])

    def test_its_first_process_cannot_be_touched(self):
        self.assertRegex(inside(self.level, read_file, "/proc/1/environ"), "^denied: ")
        self.assertRegex(inside(self.level, read_file, "/proc/1/mem"), "^denied: ")

    def test_root_is_nobody(self):
        if os.geteuid() != 0:
            self.skipTest("not root")
        self.assertEqual(inside(self.level, os.getuid), 65534)


class Landlock(Jail):
    level = "landlock"


del Jail


class Turns(unittest.TestCase):
    """A worker that stands still has no processor time, and one that had some is told."""

    def setUp(self):
        self.read, self.write = os.pipe()
        self.group = groups.Group("cawb-test-%d" % os.getpid(), {"memory": 1 << 30, "processes": 50})
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


class Host(unittest.TestCase):
    def test_a_description_that_is_none(self):
        failure = confine.Failure()
        for text in (b"show relative", b"nonsense /x", b"limit speed 3", b"show /a/../b", b"write relative", b"disk x"):
            pid = os.fork()
            if pid == 0:
                code = CONFINEMENT.library.cawb_jail_enter(text, ctypes.byref(failure))
                os._exit(7 if code != 0 and b"cannot take the line" in failure.text else 1)
            self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 7, text)

    def test_an_unknown_library_says_so(self):
        with self.assertRaisesRegex(Exception, "cannot load"):
            confine.Confinement("/nowhere.so")


if __name__ == "__main__":
    unittest.main()
