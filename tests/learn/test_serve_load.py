"""`cawb serve` under clients that want all of it, from another address of this machine: an honest client's candidates are
evaluated, its session is opened, and /health answers."""
import json
import os
import shutil
import socket
import sys
import tempfile
import threading
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))

from serving import CAWB, Server, Socket, rung

RIGHT = rung("v1_thread_per_row")
HANGS = dict(RIGHT, source=RIGHT["source"].replace("{", "{\n  for (volatile int i = 0; i >= 0; i = i & 1) { }\n", 1))
FLAGS = ("--places", "2", "--sessions", "4", "--set", "verify.trials=1", "--set", "verify.battery=mixed",
         "--set", "confirm.enabled=false", "--set", "deadlines.run=5")
OTHER = "127.0.0.2"


def variant(candidate, i):
    return dict(candidate, source=candidate["source"] + "// %d\n" % i)


@unittest.skipUnless(CAWB, "CAWB_PROGRAM is not set")
class Load(unittest.TestCase):
    def setUp(self):
        self.out = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.out, ignore_errors=True)
        self.server = Server(self.out, flags=FLAGS)
        self.addCleanup(self.server.end)
        self.open = []
        self.addCleanup(lambda: [one.close() for one in self.open])

    def connect(self, text):
        """A connection of the other client's that has sent this."""
        host, port = self.server.url.rsplit("/", 1)[1].rsplit(":", 1)
        one = socket.create_connection((host, int(port)), 60, (OTHER, 0))
        one.sendall(text.encode())
        self.open.append(one)
        return one

    def test_an_honest_client_is_served_beside_slow_connections(self):
        for _ in range(200):
            self.connect("POST /score HTTP/1.1\r\nHost: 127")
        self.assertEqual(self.server.ask("GET", "/health")[0], 200)
        status, answer = self.server.score(RIGHT)
        self.assertEqual((status, answer["items"][0]["ok"]), (200, True), answer)

    def test_kernels_that_hang_leave_a_place_to_others(self):
        self.server.score(variant(RIGHT, 0))                        # the honest client is there
        hanging = [threading.Thread(target=self.score_as_other, args=(variant(HANGS, i),)) for i in range(8)]
        for one in hanging:
            one.start()
        while "cawb_waiting 7" not in self.server.ask("GET", "/metrics")[1]:
            pass                                                    # one is evaluated, and no more
        status, answer = self.server.score(variant(RIGHT, 1))
        self.assertEqual((status, answer["items"][0]["ok"]), (200, True), answer)
        self.assertRegex(self.server.ask("GET", "/metrics")[1], r"cawb_waiting [1-7]\n")      # it overtook them
        self.server.end()
        for one in hanging:
            one.join()

    def score_as_other(self, candidate):
        body = json.dumps({"task": "softmax", "candidate": candidate})
        try:
            self.connect("POST /score HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s"
                         % (len(body), body)).recv(1 << 16)
        except OSError:
            pass                                                    # the server ends before it answers

    def test_a_silent_session_gives_way_to_a_client_without_one(self):
        theirs = [Socket(self.server, source=(OTHER, 0)) for _ in range(4)]
        self.assertEqual([one.status for one in theirs], [101] * 4)
        mine = Socket(self.server)
        self.assertEqual(mine.ask("reset", {"task": "softmax"})[0], "observation")
        self.assertEqual(theirs[1].ask("state", {})[0], "state")   # the oldest has gone
        kind, data = theirs[0].ask("state", {})
        self.assertEqual((kind, data["code"]), ("error", "CAPACITY_REACHED"))
        self.assertIn("gave way", data["message"])
        for one in (mine, *theirs[1:]):
            one.close()

    def test_one_client_does_not_push_itself_out(self):
        mine = [Socket(self.server) for _ in range(4)]
        fifth = Socket(self.server)
        self.assertIn(b"CAPACITY_REACHED", fifth.receive()[1])
        self.assertEqual({one.ask("state", {})[0] for one in mine}, {"state"})
        for one in (fifth, *mine):
            one.close()


if __name__ == "__main__":
    unittest.main()
