"""The jail, from inside: every denial denies, and what a candidate needs is there. What is limited: test_jail_limits.py."""
import ctypes
import os
import select
import shutil
import signal
import socket
import subprocess
import unittest
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "support"))

from jailcase import CONFINEMENT, LIBC, LIMITS, REPORT, ROOT, Jailed, confine, inside, processes, read_file

PTRACE_ATTACH, NEW_USER = 16, 0x10000000


# Acts

def write_file(path):
    with open(path, "w", encoding="ascii") as file:
        file.write("x")
    return "done"


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


class Jail(Jailed):
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
        self.denied(read_file, os.path.join(ROOT, "python", "cawb_host", "judge", "compare", "gpu.py"))
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
