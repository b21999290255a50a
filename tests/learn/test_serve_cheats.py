"""The red team's corpus through POST /score: each cheat is caught at the stage and by the rule that its fixture names, as
`cawb redteam` has it (tests/judge/test_redteam.lua), and each look-alike passes. A sample; all with CAWB_TEST_ALL=1, and those of CAWB_TEST_CHEATS="^a07 ^e5" by their names."""
import json
import os
import shutil
import subprocess
import tempfile
import unittest
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))

from serving import CAWB, LIMIT, ROOT, Server

ALL = bool(os.environ.get("CAWB_TEST_ALL"))
SAMPLE = os.environ["CAWB_TEST_CHEATS"].split() if "CAWB_TEST_CHEATS" in os.environ else () if ALL else (
    "^a01_", "^a10_", "^b21_", "^b15_", "^c34_g", "^d48_no", "^f62_relu", "^g71_out", "^g81_os", "^g81_reads")
BRIEF = """return { measure = { against = {}, launches = 0 }, deadlines = { run = 2.0, measure = 4.0 }, sweep = { variants = 1 } }"""


def fixtures(patterns):
    lines = subprocess.run([CAWB, "tests/judge/cheats/dump.lua", "--", *patterns], cwd=ROOT, capture_output=True, text=True, check=True,
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
        tasks = sorted({f["path"] for f in list_of})
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


if __name__ == "__main__":
    unittest.main()
