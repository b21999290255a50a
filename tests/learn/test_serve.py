"""`cawb serve` as a client sees it: scores, their memory, what is refused, and how it ends."""
import http.client
import os
import shutil
import subprocess
import tempfile
import threading
import unittest
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))

from serving import CAWB, LIMIT, ROOT, Server, rung

RIGHT, BROKEN = rung("v1_thread_per_row"), dict(rung("v1_thread_per_row"), source="no kernel")
WRONG = dict(RIGHT, source=RIGHT["source"].replace("/ sum", "/ (sum + 1)"))


class Serving(unittest.TestCase):
    """One server for all tests of a class."""
    words, flags = ("examples/softmax.py",), ()

    @classmethod
    def setUpClass(cls):
        cls.out = tempfile.mkdtemp()
        cls.server = Server(cls.out, *cls.words, flags=cls.flags)

    @classmethod
    def tearDownClass(cls):
        status = cls.server.stop()
        shutil.rmtree(cls.out)
        assert status == 0, cls.server.errors()


@unittest.skipUnless(CAWB, "CAWB_PROGRAM is not set")
class Score(Serving):
    flags = ("--set", "deadlines.run=4", "--set", "verify.sizes=1")

    def test_what_is_to_be_confirmed_is_evaluated_twice_and_remembered_apart(self):
        mine = dict(RIGHT, source=RIGHT["source"] + "// to be confirmed\n")
        once, bad = (self.server.score(c)[1]["items"][0] for c in (mine, WRONG))
        self.assertNotIn("first", once)
        status, answer = self.server.score(mine, WRONG, confirm=True)
        self.assertEqual(status, 200, answer)
        twice, bad = answer["items"]
        self.assertEqual((twice["ok"], twice["memo"]), (True, False), twice)
        self.assertGreater(twice["seconds"]["confirm"], 0)
        self.assertEqual(twice["sizes"]["wrong"], 0)
        self.assertEqual((bad["ok"], "first" in bad), (False, False))
        self.assertTrue(self.server.score(mine, confirm=True)[1]["items"][0]["memo"])
        self.assertNotIn("first", self.server.score(mine)[1]["items"][0])
        self.assertEqual(self.server.score(mine, confirm=1)[0], 422)

    def test_a_batch_has_a_verdict_and_a_reward_each(self):
        self.assertNotEqual(WRONG["source"], RIGHT["source"])
        status, answer = self.server.score(RIGHT, WRONG, BROKEN, {"text": "I cannot."}, {"schedule": {}}, {"short": "I cannot."},
                                           {"short": "```cuda\n%s\n```\n```lua\n%s\n```" % (RIGHT["source"], RIGHT["plan"])},
                                           {"text": "It adds.\n```cuda\n%s```\n```lua\n%s```\n" % (RIGHT["source"], RIGHT["plan"])})
        self.assertEqual(status, 200, answer)
        right, wrong, broken, silent, schedule, mute, short, reply = answer["items"]
        self.assertEqual((mute["ok"], mute["stage"], mute["reward"]), (False, "reply", -1))
        self.assertTrue(short["ok"] and short["reward"] == right["reward"], short)
        self.assertTrue(right["ok"] and right["modelled"] and right["reward"] >= 1, right)
        self.assertGreater(right["speedup"]["eager"]["median"], 0)
        self.assertEqual((wrong["ok"], wrong["stage"], wrong["reward"]), (False, "verify", -1))
        self.assertEqual((broken["ok"], broken["stage"], broken["reward"]), (False, "compile", -1))
        self.assertIn("kernel.cu(1)", broken["log"])
        self.assertEqual((silent["ok"], silent["stage"], silent["reward"]), (False, "reply", -1))
        self.assertTrue(schedule["ok"] and "__global__" in schedule["source"], schedule)
        self.assertEqual(reply["hash"], right["hash"])

    def test_schedules_are_choices_of_the_compiler(self):
        wanted = {"kernels": {"1.6": {"lanes": 32}}, "skip": [1], "cuts": ["1.1|1.2"]}
        _, answer = self.server.score({"schedule": {"decisions": True}}, {"schedule": wanted}, {"schedule": {"tile": 3}}, {"schedule": {"kernels": 3}},
                                      {"schedule": {"kernels": {"1.6": {"lanes": []}}}})
        own, other, unknown, number, nested = answer["items"]
        self.assertTrue(own["ok"] and other["ok"], answer)
        self.assertNotEqual(own["source"], other["source"])
        self.assertTrue(all(decision["values"] for decision in own["decisions"]) and own["decisions"], own)
        self.assertNotIn("decisions", other)
        self.assertIn("'tile' is no choice", unknown["reason"])
        self.assertIn("'kernels' is no choice, or of another type", number["reason"])
        self.assertIn("an option has a name and a plain value", nested["reason"])

    def test_what_was_measured_is_remembered(self):
        self.server.score(RIGHT, BROKEN)
        before = self.server.evaluated()
        status, answer = self.server.score(RIGHT, RIGHT, BROKEN)
        self.assertEqual([item["memo"] for item in answer["items"]], [True, True, True])
        self.assertIn("kernel.cu(1)", answer["items"][2]["log"])
        self.assertEqual(self.server.evaluated(), before)
        self.server.score(RIGHT, memo=False)
        self.assertEqual(self.server.evaluated(), before + 1)

    def test_what_processes_were_asked_for_is_counted(self):
        self.server.score(RIGHT)
        before = self.server.asked("compare")
        self.assertTrue(self.server.score(dict(RIGHT, source=RIGHT["source"] + "// counted\n"))[1]["items"][0]["ok"])
        after = self.server.asked("compare")
        self.assertGreater(after[0], before[0])
        self.assertGreater(after[1], before[1])

    def test_a_request_that_comes_twice_is_answered_twice_and_done_once(self):
        slow = dict(RIGHT, source=RIGHT["source"] + "// twice\n")
        before = self.server.evaluated()
        first = self.server.score(slow, request_id="a-1", memo=False)
        self.assertEqual(first, self.server.score(slow, request_id="a-1", memo=False))
        self.assertEqual(self.server.evaluated(), before + 1)
        status, answer = self.server.score(BROKEN, request_id="a-1")
        self.assertEqual(status, 409, answer)

    def test_what_takes_long_is_queued(self):
        status, answer = self.server.score(dict(RIGHT, source=RIGHT["source"] + "// queued\n"), request_id="b-1", wait_s=0)
        self.assertEqual((status, answer["status"], answer["of"]), (202, "queued", 1), answer)
        while status == 202:
            status, answer = self.server.ask("GET", "/score/b-1")
        self.assertTrue(status == 200 and answer["items"][0]["ok"], answer)

    def test_a_worker_that_is_killed_costs_its_candidate_only(self):
        endless = dict(RIGHT, source=RIGHT["source"].replace("{", "{\n  while (x != nullptr) __threadfence();", 1))
        status, answer = self.server.score(endless, dict(RIGHT, source=RIGHT["source"] + "// after\n"))
        self.assertEqual(status, 200, answer)
        self.assertEqual([item["ok"] for item in answer["items"]], [False, True], answer["items"][0])
        self.assertEqual((answer["items"][0]["stage"], answer["items"][0]["reward"]), ("run", -1), answer["items"][0])

    def test_mistakes_are_told(self):
        for body, status, says in (
                (b"{", 400, "no JSON"), (b"[]", 400, "must be a JSON object"), ({"items": []}, 422, "must be a list"),
                ({"candidate": RIGHT}, 422, "name of a task"), (b'{"items": 1e999}', 400, "NaN or infinity"),
                ({"task": "softmx", "candidate": RIGHT}, 422, "did you mean 'softmax'"),
                ({"task": "softmax", "candidate": {"sauce": "x"}}, 422, "no field 'sauce'"),
                ({"task": "softmax", "candidate": {"source": "x"}}, 422, "give one of"),
                ({"task": "softmax", "candidate": dict(RIGHT, defines=[1])}, 422, "object of names"),
                ({"task": "softmax", "candidate": dict(RIGHT, tunables={"a b": 1})}, 422, "object of names"),
                ({"task": "softmax", "candidate": dict(RIGHT, options={"a": "b"})}, 422, "list of texts"),
                ({"task": "softmax", "candidate": {"source": 1, "plan": ""}}, 422, "must be a string"),
                ({"task": {"code": "import os"}, "candidate": RIGHT}, 422, "--accept-tasks"),
                ({"task": "softmax", "candidate": RIGHT, "request_id": "a b"}, 422, "request_id")):
            got, answer = self.server.ask("POST", "/score", body)
            self.assertEqual(got, status, (body, answer))
            self.assertIn(says, answer["error"])
        self.assertEqual(self.server.ask("GET", "/score")[0], 405)
        self.assertEqual(self.server.ask("GET", "/nowhere")[0], 404)
        self.assertIn("POST /score", self.server.ask("GET", "/")[1]["ask"])
        self.assertIn("no model's endpoint", self.server.ask("GET", "/v1/models")[1]["error"])
        self.assertEqual(self.server.ask("GET", "/score/unknown")[0], 404)

    def test_a_bad_item_does_not_refuse_the_batch(self):
        status, answer = self.server.ask("POST", "/score", {"items": [
            {"task": "softmx", "candidate": RIGHT}, {"task": "softmax", "candidate": RIGHT}, {"task": "softmax", "candidate": {"sauce": "x"}}, 7]})
        self.assertEqual(status, 200, answer)
        unknown, right, field, number = answer["items"]
        self.assertTrue(right["ok"], right)
        for item, says in ((unknown, "items[0]: .*did you mean 'softmax'"), (field, r"items\[2\]: .*no field 'sauce'"), (number, r"items\[3\] must be")):
            self.assertEqual((item["name"], "reward" in item), ("usage", False), item)
            self.assertRegex(item["error"], says.replace("[0]", r"\[0\]"))

    def test_a_reply_with_python_is_told_that_kernels_are_wanted(self):
        item = self.server.score({"text": "```python\nclass ModelNew:\n    pass\n```"})[1]["items"][0]
        self.assertEqual((item["ok"], item["stage"], item["name"]), (False, "reply", "unsupported"), item)
        self.assertRegex(item["reason"], "not judged: .* executes kernels only.*```cuda")

    def test_web_pages_and_foreign_names_are_refused(self):
        self.assertEqual(self.server.ask("GET", "/health", headers={"Origin": "http://somewhere"})[0], 403)
        self.assertEqual(self.server.ask("GET", "/health", headers={"Host": "somewhere:80"})[0], 403)
        self.assertEqual(self.server.ask("GET", "/health"), (200, {"status": "healthy"}))

    def test_no_path_of_this_machine_is_told(self):
        includes = dict(RIGHT, source="#include \"/etc/hostname\"\n" + RIGHT["source"])
        raises = dict(RIGHT, plan="error(\"/usr/lib/secret/place\")")
        text = str(self.server.score(includes, raises, BROKEN, RIGHT)) + str(self.server.ask("GET", "/tasks"))
        for path in (ROOT, self.out, "/usr/lib", os.path.expanduser("~") + "/"):
            self.assertNotIn(path, text)
        self.assertIn(".../place", text)


@unittest.skipUnless(CAWB, "CAWB_PROGRAM is not set")
class Limits(unittest.TestCase):
    def setUp(self):
        self.out = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.out)

    def test_body_rate_and_token(self):
        key = os.path.join(self.out, "token")
        with open(key, "w", encoding="utf-8") as file:
            file.write("a long secret\n")
        server = Server(self.out, flags=("--token-file", key, "--body", "4096", "--rate", "3"))
        bearer = {"Authorization": "Bearer a long secret"}
        for wrong in ({}, {"Authorization": "Bearer a long secreT"}, {"Authorization": "Bearer "}, {"Authorization": "a long secret"}):
            self.assertEqual(server.ask("GET", "/health", headers=wrong)[0], 401, wrong)
        self.assertEqual(server.ask("GET", "/health", headers=dict(bearer, Origin="http://a"))[0], 200)
        self.assertEqual(server.ask("POST", "/score", b"x" * 5000, bearer)[0], 413)
        self.assertIn(429, [server.ask("GET", "/tasks", headers=bearer)[0] for _ in range(8)])
        self.assertEqual(server.stop(), 0)

    def test_other_addresses_need_a_token(self):
        done = subprocess.run([CAWB, "serve", "examples/softmax.py", "--host", "0.0.0.0"], cwd=ROOT, capture_output=True,
                              text=True, timeout=LIMIT, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("--token-file", done.stderr)

    def test_a_server_that_ends_finishes_and_the_next_one_remembers(self):
        server = Server(self.out)
        got = []
        many = [RIGHT] + [dict(RIGHT, source=RIGHT["source"] + "// ends %d\n" % i) for i in range(60)]
        asking = threading.Thread(target=lambda: got.append(server.score(*many)))
        asking.start()
        while "cawb_places_busy 1" not in server.ask("GET", "/metrics")[1]:
            pass
        self.assertEqual(server.stop(), 0)
        asking.join()
        self.assertEqual(got[0][0], 200, got)
        items, waited = got[0][1]["items"], {"error": "the server is stopping", "name": "busy"}
        done = [i for i, item in enumerate(items) if item != waited]
        self.assertTrue(all(items[i]["ok"] for i in done), items)
        self.assertTrue(0 < len(done) < len(many), items)         # what waited was not begun
        server = Server(self.out)
        self.assertIn("%d candidates remembered" % len(done), server.line)
        status, answer = server.score(*[many[i] for i in done])
        self.assertEqual([item["memo"] for item in answer["items"]], [True] * len(done))
        self.assertEqual(server.stop(), 0)


if __name__ == "__main__":
    unittest.main()
