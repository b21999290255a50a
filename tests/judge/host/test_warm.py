"""tests/support/warm: a task host that is forked for the tests ends, and is ended, as one that is started."""
import os
import re
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import unittest

sys.path[:0] = [os.path.join(os.path.dirname(__file__), "..", "..", "support", *below) for below in ((), ("warm",))]

import server
from hostcase import HAVE_TORCH, Host, Loaded

WARM = os.environ.get("CAWB_WARM_PYTHON")


def alive(pid):
    try:
        with open("/proc/%d/stat" % pid) as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@unittest.skipUnless(WARM and HAVE_TORCH, "it is not run by ctest, or this Python has no PyTorch")
class Warm(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = os.path.realpath(folder.name)

    def host(self):
        here = os.getcwd()
        os.chdir(self.folder)
        try:
            host = Host()
        finally:
            os.chdir(here)
        self.addCleanup(host.process.wait)
        self.addCleanup(host.process.stdout.close)
        self.addCleanup(host.socket.close)
        return host

    def seen(self, host, expression):
        """What a task sees in its host, as text."""
        path = os.path.join(self.folder, "task.py")
        with open(path, "w") as file:
            file.write("import os\nraise ValueError('<%%s>' %% %s)\n" % expression)
        return re.search("<(.*)>", Loaded(host, path).reply["message"]).group(1)

    def test_it_is_a_fork_with_its_own_folder_and_environment(self):
        os.environ["CAWB_WARM_SEEN"] = "a=b c"
        self.addCleanup(os.environ.pop, "CAWB_WARM_SEEN")
        host = self.host()
        pid = int(self.seen(host, "os.getpid()"))
        self.assertNotEqual(pid, host.process.pid)
        self.assertEqual(self.seen(host, "os.getcwd()"), self.folder)
        self.assertEqual(self.seen(host, "os.environ['CAWB_WARM_SEEN']"), "a=b c")
        self.assertEqual(self.seen(host, "' '.join(sorted(os.listdir('/proc/self/fd')))"), "0 1 2 3 4")
        self.assertEqual(host.close(), 0)
        self.assertFalse(alive(pid))

    def test_how_it_ended_is_passed_on(self):
        host = self.host()
        host.send_raw(b"", size=(64 << 20) + 1)
        self.assertEqual(host.process.wait(), 1)
        host = self.host()
        with self.assertRaises(EOFError):
            self.seen(host, "os.kill(os.getpid(), %d)" % signal.SIGSEGV)
        self.assertEqual(host.process.wait(), -signal.SIGSEGV)

    def test_who_kills_it_kills_the_host(self):
        host = self.host()
        self.assertEqual(self.seen(host, "'here'"), "here")
        host.socket.settimeout(60)
        host.process.kill()
        with self.assertRaises((EOFError, ConnectionError)):
            host.receive()                # its end of the socket is closed: it is gone

    def test_all_else_is_the_real_python(self):
        out = subprocess.run([WARM, "-c", "import sys; print(sys.argv)", "python/cawb_host"], check=True,
                             stdout=subprocess.PIPE).stdout
        self.assertEqual(out, b"['-c', 'python/cawb_host']\n")

    def test_a_host_that_ends_as_its_client_goes_leaves_the_server_alive(self):
        served = server.Server(os.pidfd_open(os.getpid()), os.eventfd(0))
        client, connection = socket.socketpair()
        pid = os.posix_spawnp("true", ["true"], os.environ)
        served.hosts[connection] = pid
        pidfd = os.pidfd_open(pid)
        for file, heard in ((connection, served.abandoned), (pidfd, served.ended(connection))):
            served.selector.register(file, selectors.EVENT_READ, heard)
        client.close()
        served.ended(connection)(pidfd)
        served.abandoned(connection)      # heard of in the same turn
        self.assertEqual(served.hosts, {})


if __name__ == "__main__":
    unittest.main()
