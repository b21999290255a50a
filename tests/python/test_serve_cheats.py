"""The red team's corpus through POST /score: each cheat is caught at the stage and by the rule that its fixture names, as
`cawb redteam` has it (tests/lua/test_redteam.lua), and each look-alike passes. A sample; all with CAWB_TEST_ALL=1, and those of CAWB_TEST_CHEATS="^a07 ^e5" by their names. And what is
left when a server is killed: a whole record."""
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import threading
import unittest

from serving import CAWB, LIMIT, ROOT, Server, rung

ALL = bool(os.environ.get("CAWB_TEST_ALL"))
SAMPLE = os.environ["CAWB_TEST_CHEATS"].split() if "CAWB_TEST_CHEATS" in os.environ else () if ALL else (
    "^a01_", "^a10_", "^b21_", "^b15_", "^c34_g", "^d48_no", "^f62_relu", "^g71_out", "^g81_os", "^g81_reads")
BRIEF = """return { measure = { against = {}, launches = 0 }, deadlines = { run = 2.0, measure = 4.0 }, sweep = { variants = 1 } }"""
RIGHT = rung("v1_thread_per_row")


def fixtures(patterns):
    lines = subprocess.run([CAWB, "tests/cheats/dump.lua", "--", *patterns], cwd=ROOT, capture_output=True, text=True, check=True,
                           timeout=LIMIT).stdout.splitlines()
    return [json.loads(line) for line in lines]


@unittest.skipUnless(CAWB, "CAWB_PROGRAM is not set")
class Cheats(unittest.TestCase):
    def setUp(self):
        self.out = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.out)

    def test_cheats_are_caught_and_look_alikes_pass(self):
        config = os.path.join(self.out, "brief.lua")
        with open(config, "w", encoding="utf-8") as file:
            file.write(BRIEF)
        list_of = [f for f in fixtures(SAMPLE) if "unsent" not in f]
        self.assertGreater(len(list_of), 3)
        tasks = sorted({"tests/cheats/tasks/%s.py" % f["task"] for f in list_of})
        server = Server(self.out, *tasks, flags=("--config", config), sizes=())
        self.addCleanup(server.end)
        body = {"items": [{"task": f["task"], "candidate": f[which]} for f in list_of for which in ("cheat", "look_alike")],
                "request_id": "all"}
        status, answer = server.ask("POST", "/score", body)
        while status == 202:
            status, answer = server.ask("POST", "/score", body)
        self.assertEqual(status, 200, answer)
        wrong = []
        for f, cheat, honest in zip(list_of, answer["items"][::2], answer["items"][1::2]):
            found = {key: cheat.get(key) for key in ("stage", "rule")}
            if cheat.get("ok") is not False or found != {key: f["caught"].get(key) for key in ("stage", "rule")}:
                wrong.append((f["name"], found, f["caught"], cheat.get("reason") or cheat.get("error")))
            if honest.get("ok") is not True:
                wrong.append((f["name"], "look-alike", honest.get("reason") or honest.get("error")))
        self.assertEqual(wrong, [], "%d of %d fixtures" % (len(wrong), len(list_of)))
        self.assertEqual(server.stop(), 0)


@unittest.skipUnless(CAWB, "CAWB_PROGRAM is not set")
class Killed(unittest.TestCase):
    def test_the_record_of_a_server_that_is_killed_is_whole(self):
        out = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, out)
        seen = 0
        for moment in range(20 if ALL else 2):
            server = Server(out)
            before = server.evaluated()
            variants = [dict(RIGHT, source=RIGHT["source"] + "// %d %d\n" % (moment, i)) for i in range(8)]
            asking = threading.Thread(target=self.ask, args=(server, variants))
            asking.start()
            while server.evaluated() <= before + moment % 5:
                pass
            done = server.evaluated()
            server.stop(signal.SIGKILL)
            asking.join()
            with sqlite3.connect(os.path.join(out, "store.sqlite")) as store:
                self.assertEqual(store.execute("pragma integrity_check").fetchone(), ("ok",))
                self.assertEqual(store.execute("pragma foreign_key_check").fetchall(), [])
                count, judged = store.execute("select count(*), count(e.run) from turns t left join evaluations e on e.run = t.run "
                                              "and e.turn = t.number and e.number = 0").fetchone()
            self.assertEqual(count, judged)
            self.assertGreaterEqual(count, seen + done)              # what was told is there
            seen = count
        server = Server(out)
        self.assertIn("%d candidates remembered" % seen, server.line)
        status, answer = server.score(*variants)
        self.assertTrue(status == 200 and all(item["ok"] for item in answer["items"]), answer)
        self.assertEqual(server.stop(), 0)

    def ask(self, server, variants):
        try:
            server.score(*variants)
        except OSError:
            pass                                  # the connection goes with the server


if __name__ == "__main__":
    unittest.main()
