"""Sessions of `cawb serve` on OpenEnv's wire, over WebSockets and over plain HTTP. openenv-core's own client is driven
by tests/learn/openenv/run."""
import json
import os
import sqlite3
import unittest
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))

from serving import CAWB, Socket, rung
from test_serve import Serving

RIGHT = rung("v1_thread_per_row")


@unittest.skipUnless(CAWB, "CAWB_PROGRAM is not set")
class Sessions(Serving):
    flags = ("--sessions", "2", "--set", "turns=3", "--set", "confirm.enabled=false", "--body", "65536")

    def setUp(self):
        super().setUp()
        while "cawb_sessions 0\n" not in self.server.ask("GET", "/metrics")[1]:
            pass                                      # those of the test before are still leaving

    def socket(self, *args):
        one = Socket(self.server, *args)
        self.addCleanup(one.close)
        return one

    def query(self, sql, *params):
        with sqlite3.connect(os.path.join(self.out, "store.sqlite")) as store:
            return store.execute(sql, params).fetchall()

    def test_an_episode_is_a_run(self):
        line = self.socket()
        kind, first = line.ask("reset", {"task": "softmax", "turns": 2, "seed": 1})
        self.assertEqual((kind, first["done"], first["reward"]), ("observation", False, None))
        self.assertIn("kernel.cu", first["observation"]["text"])
        kind, step = line.ask("step", {"text": "nothing"})
        self.assertEqual((kind, step["reward"], step["done"]), ("observation", -1, False))
        kind, step = line.ask("step", RIGHT)
        self.assertTrue(step["reward"] >= 1 and step["observation"]["result"]["ok"], step)
        kind, step = line.ask("step", RIGHT)
        self.assertIn("The same candidate as turn 1", step["observation"]["text"])
        self.assertEqual(step["observation"]["left"]["turns"], 1)
        kind, step = line.ask("step", {"tool": "read_file", "arguments": {"path": "kernel.cu"}})
        self.assertEqual((step["reward"], step["observation"]["text"].strip()[-1]), (None, "}"))
        kind, step = line.ask("step", dict(RIGHT, source="no kernel"))
        self.assertEqual((step["reward"], step["done"]), (-1, True))
        kind, step = line.ask("step", RIGHT)
        self.assertEqual((step["reward"], step["done"]), (None, True))
        kind, state = line.ask("state")
        self.assertEqual((kind, state["step_count"], state["done"]), ("state", 6, "turns"))
        run = step["observation"]["run"]
        self.assertEqual(self.query("select status from run_ends where run = ?", run), [("passed",)])
        self.assertEqual(self.query("select count(*) from turns where run = ?", run), [(2,)])

    def test_mistakes_are_frames_and_the_session_goes_on(self):
        line = self.socket()
        for message, code in ((b"{", "INVALID_JSON"), (b"[1]", "VALIDATION_ERROR"), (b'{"type":"dance"}', "UNKNOWN_TYPE"),
                              (b'{"type":"step","data":{"text":"x"}}', "VALIDATION_ERROR"),
                              (b'{"type":"reset","data":{"task":"nosuch"}}', "VALIDATION_ERROR"),
                              (b'{"type":"reset","data":{"turns":0}}', "VALIDATION_ERROR"),
                              (b'{"type":"step","data":{"tool":"list","source":"x"}}', "VALIDATION_ERROR")):
            line.frame(0x81, message)
            answer = json.loads(line.receive()[1])
            self.assertEqual((answer["type"], answer["data"]["code"]), ("error", code), (message, answer))
        line.frame(0x01, b'{"type":')                 # a message in two frames
        line.frame(0x80, b'"state"}')
        self.assertEqual(json.loads(line.receive()[1])["type"], "state")
        self.assertEqual(line.ask("reset")[0], "observation")
        line.frame(0x81, b'{"type":"close"}')
        self.assertEqual(line.receive()[0], 8)

    def test_a_reply_with_python_costs_its_step_and_not_the_session(self):
        line = self.socket()
        self.assertEqual(line.ask("reset")[0], "observation")
        for action in ({"text": "```python\nclass ModelNew:\n    pass\n```"}, {"python": "class ModelNew:\n    pass\n"}):
            kind, step = line.ask("step", action)
            self.assertEqual((kind, step["reward"], step["done"]), ("observation", -1, False), step)
            self.assertRegex(step["observation"]["text"], "executes kernels only.*```cuda")
        kind, step = line.ask("step", RIGHT)
        self.assertEqual((kind, step["observation"]["result"]["ok"]), ("observation", True), step)

    def test_pings_are_answered_while_a_step_is_under_way(self):
        line = self.socket()
        line.ask("reset")
        long = dict(RIGHT, source="#include <cooperative_groups.h>\n" + RIGHT["source"])
        line.frame(0x81, json.dumps({"type": "step", "data": long}).encode())
        line.frame(0x89, b"alive?")
        self.assertEqual(line.receive(), (10, b"alive?"))
        self.assertEqual(json.loads(line.receive()[1])["type"], "observation")

    def test_frames_that_there_may_not_be_end_the_connection(self):
        for bits, data, code in ((0x82, b"x", 1003), (0x80, b"x", 1002), (0x81, b"x" * 70000, 1009)):
            line = self.socket()
            line.frame(bits, data)
            opcode, why = line.receive()
            self.assertEqual((opcode, int.from_bytes(why[:2], "big")), (8, code))
            line.close()
        self.assertEqual(self.socket("/ws", "Origin: http://somewhere\r\n").status, 403)

    def test_no_more_sessions_than_there_may_be(self):
        lines = [self.socket(), self.socket()]
        for line in lines:
            self.assertEqual(line.ask("state")[0], "state")
        third = self.socket()
        self.assertEqual(json.loads(third.receive()[1])["data"]["code"], "CAPACITY_REACHED")
        self.assertEqual(third.receive()[0], 8)
        lines[0].close()
        while "cawb_sessions 1\n" not in self.server.ask("GET", "/metrics")[1]:
            pass
        self.assertEqual(self.socket().ask("state")[0], "state")

    def test_plain_http_has_an_environment_for_each_request(self):
        status, first = self.server.ask("POST", "/reset", {"task": "softmax"})
        self.assertEqual((status, first["done"], first["reward"]), (200, False, None))
        status, step = self.server.ask("POST", "/step", {"action": dict(RIGHT, task="softmax")})
        self.assertEqual((status, step["done"]), (200, True))
        self.assertGreaterEqual(step["reward"], 1)
        for body in ({"action": {"sauce": 1}}, {"act": 1}, {"action": {"text": "x", "task": "nosuch"}}):
            self.assertEqual(self.server.ask("POST", "/step", body)[0], 422)
        self.assertEqual(self.server.ask("GET", "/state")[1], {"episode_id": None, "step_count": 0})
        schema = self.server.ask("GET", "/schema")[1]
        self.assertEqual(sorted(schema), ["action", "observation", "state"])
        about = self.server.ask("GET", "/metadata")[1]
        self.assertEqual((about["name"], about["max_sessions"], about["tasks"]), ("cawb", 2, 1))


if __name__ == "__main__":
    unittest.main()
