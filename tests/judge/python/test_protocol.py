"""A jailed worker that its candidate has taken over: what it says costs the candidate its turn,
and never the task host, which answers the next request as if nothing had been."""
import contextlib
import json
import os
import re
import socket
import struct
import sys
import tempfile
import threading
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "support"))

from hostcase import PACKAGES, HAVE_TORCH, Host, Loaded, task

if HAVE_TORCH:
    from cawb_host.base.fault import Fault
    from cawb_host.base.protocol import Misfit, protocol

CENSUS = {"imports": ["torch"], "uses": [], "calls": [], "early": [], "methods": [], "modules": [], "assigned": [],
          "dynamic": [], "classes": {}, "handlers": 0, "products": 0, "longest_string": 0}
HONEST = {"look": {"census": CENSUS}, "load": {"renamed": {}, "skipped": []}, "call": {}, "put": {}}


def text_of(**fields):
    return lambda reply: json.dumps(dict(reply, **fields)).encode()


def in_census(**fields):
    return text_of(census=dict(CENSUS, **fields))


def raw(body):
    return lambda reply: body % reply["call"]


def nested(depth):
    return raw(b'{"ok":true,"call":%d,"renamed":' + b"[" * depth + b"]" * depth + b',"skipped":[]}')


# What is said, to which request, and a word of the reason.
ATTACKS = [
    ("look", in_census(handlers=float("nan")), "handlers"),
    ("look", in_census(handlers=float("inf")), "handlers"),
    ("look", in_census(handlers=10 ** 400), "handlers"),
    ("look", in_census(handlers=-1), "handlers"),
    ("look", in_census(imports=5), "imports"),
    ("look", in_census(imports=[["a"]]), "imports[1]"),
    ("look", in_census(imports=["\ud800"]), "imports[1]"),
    ("look", in_census(imports=["x" * 5000]), "imports[1]"),
    ("look", in_census(imports=["x"] * 5000), "imports"),
    ("look", in_census(classes={"\udfff": []}), "classes"),
    ("look", in_census(verdict="clean"), "verdict is unknown"),
    ("look", text_of(census=None), "census is missing"),
    ("load", text_of(renamed={"w": 1}), "renamed.w"),
    ("load", text_of(renamed=[]), "renamed"),
    ("load", text_of(skipped="all"), "skipped"),
    ("load", text_of(speedup=1000), "speedup is unknown"),
    ("load", text_of(ok="yes"), "ok"),
    ("load", text_of(ok=False, message=["no"]), "message"),
    ("load", text_of(ok=False, message="\ud800"), "message"),
    ("load", text_of(call=1), "answers another request"),
    ("load", nested(900), "renamed"),
    ("load", nested(100000), "not JSON"),
    ("load", raw(b'{"ok":true,"call":%d,"renamed":{},"skipped":["\xff"]}'), "not JSON"),
    ("load", lambda _: b"hello", "not JSON"),
    ("load", lambda _: b"", "not JSON"),
    ("load", lambda _: b"[1,2]", "no object"),
    ("load", lambda _: b"{}", "missing"),
    ("load", lambda _: b"x" * (2 << 20), "bytes, at most"),
]


def methods(kind):
    return {name for name in vars(kind) if not name.startswith("_")}


class Stand(threading.Thread):
    """Answers as a worker would, but for one operation."""

    def __init__(self, sock, op, attack, announced=len):
        super().__init__(daemon=True)
        self.socket, self.op, self.attack, self.announced = sock, op, attack, announced

    def run(self):
        with self.socket, contextlib.suppress(OSError):     # the task host lets go of it
            while self.answer():
                pass

    def answer(self):
        head, fds, _, _ = socket.recv_fds(self.socket, 4, 8)
        for fd in fds:
            os.close(fd)
        if len(head) < 4:
            return False
        size, = struct.unpack("<I", head)
        body = b""
        while len(body) < size:
            body += self.socket.recv(size - len(body))
        request = json.loads(body)
        reply = dict(HONEST[request["op"]], ok=True, call=request["call"])
        strikes = request["op"] == self.op
        body = self.attack(reply) if strikes else json.dumps(reply).encode()
        self.socket.sendall(struct.pack("<I", self.announced(body) if strikes else len(body)) + body)
        return True


@unittest.skipUnless(HAVE_TORCH, "this Python has no PyTorch")
class Hostile(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.host, cls.folder = Host(), tempfile.TemporaryDirectory()
        path = os.path.join(cls.folder.name, "some.py")
        with open(path, "w", encoding="utf-8") as file:
            file.write(task("return x + 1", "[torch.randn(3)]"))
        cls.loaded = Loaded(cls.host, path)

    @classmethod
    def tearDownClass(cls):
        cls.host.close()
        cls.folder.cleanup()

    def open(self, op=None, attack=None, announced=len):
        """The task host's reply to python_open with such a worker."""
        ours, theirs = socket.socketpair()
        Stand(ours, op, attack, announced).start()
        body = json.dumps({"op": "python_open", "name": "candidate", "pid": 0, "namespaces": False, "deadline": 20,
                           "source": "x", "class": "ModelNew", "call": 7}).encode()
        socket.send_fds(self.host.socket, [struct.pack("<I", len(body))], [theirs.fileno()])
        theirs.close()
        self.host.socket.sendall(body)
        return self.host.receive()[0]

    def round(self):
        return self.host.call("python_round", order=["candidate"], deadlines={"candidate": 20}, seed=1, poison=0)

    def test_an_honest_one_opens(self):
        reply = self.open()
        self.assertEqual((reply["ok"], reply["call"], reply["census"]["imports"]), (True, 7, ["torch"]))

    def test_whatever_it_says_when_it_is_opened_is_its_failure(self):
        for op, attack, word in ATTACKS:
            with self.subTest(word=word):
                reply = self.open(op, attack)
                self.assertEqual((reply["ok"], reply.get("how")), (True, "protocol"), reply)
                self.assertIn(word, reply["failed"])

    def test_whatever_it_says_in_a_round_is_its_failure(self):
        for op in ("call", "put"):
            for attack, word in ((text_of(seconds=1e-9), "seconds is unknown"), (text_of(call=3), "another request"),
                                 (raw(b'{"ok":true,"call":%d,"x":NaN}'), "x is unknown"), (lambda _: b"[]", "no object")):
                with self.subTest(op=op, word=word):
                    self.open(op, attack)
                    failed = self.round()["failed"]
                    self.assertEqual((failed["who"], failed["how"]), ("candidate", "protocol"))
                    self.assertIn(word, failed["message"])

    def test_an_answer_sent_ahead_is_no_answer(self):
        def ahead(reply):
            """Of call, and right behind it what put would be answered."""
            body = json.dumps(reply).encode()
            return body + struct.pack("<I", len(body)) + body
        self.open("call", ahead, announced=lambda body: body.index(b"}") + 1)
        failed = self.round()["failed"]
        self.assertEqual(failed["how"], "protocol")
        self.assertIn("sent an answer ahead", failed["message"])


@unittest.skipUnless(HAVE_TORCH, "this Python has no PyTorch")
class Check(unittest.TestCase):
    def test_requests_are_held_to_the_document(self):
        host = protocol("host")
        good = {"op": "inputs", "seed": "0x10", "poison": 5.0, "call": 1}
        self.assertEqual(host.request(good), {"op": "inputs", "seed": 16, "poison": 5, "call": 1, "fds": []})
        for change, word in (({"seed": 1.5}, "'seed' must be a whole number"), ({"poison": 1 << 32}, "'poison'"),
                             ({"seed": None}, "'seed' is missing"), ({"case": 5}, "'case' must be a text"),
                             ({"more": 1}, "'more' is unknown"), ({"op": "jump"}, "unknown op")):
            with self.assertRaises(Fault) as caught:
                host.request(dict(good, **change))
            self.assertEqual(caught.exception.name, "invalid")
            self.assertIn(word, caught.exception.message)

    def test_operations_are_those_of_the_documents(self):
        from cawb_host.operations import Host as Operations
        from cawb_host.judge.jailed.worker import Worker
        with open(os.path.join(PACKAGES, "cawb_host", "judge", "jailed", "__main__.py"), encoding="utf-8") as file:
            jail_host = set(re.findall(r"^    def ([a-z]+)\(self, _?request\)", file.read(), re.M))
        for name, found in (("host", methods(Operations) - {"loaded", "seen", "rivals"}), ("jail_host", jail_host),
                            ("jailed", methods(Worker) - {"made_on", "argument", "arguments", "settle"})):
            self.assertEqual(found, set(protocol(name).ops), name)

    def test_a_reply_is_its_requests(self):
        jailed = protocol("jailed")
        self.assertEqual(jailed.reply("call", {"ok": True, "call": 5}, 5), {"ok": True, "call": 5})
        self.assertRaises(Misfit, jailed.reply, "call", {"ok": True, "call": 4}, 5)
        self.assertRaises(Misfit, jailed.reply, "call", {"ok": True}, 5)
        self.assertEqual(jailed.reply("load", {"ok": False, "message": "no", "call": 5}, 5)["message"], "no")


if __name__ == "__main__":
    unittest.main()
