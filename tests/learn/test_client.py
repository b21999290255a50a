"""The Python client, on a server of its own, on one that misbehaves, and in the wheel that the build makes."""
import asyncio
import http.server
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))

from serving import CAWB, LIMIT, ROOT, rung

sys.path.insert(0, os.path.join(ROOT, "python"))
import cawb  # noqa: E402

RIGHT = rung("v1_thread_per_row")
SMALL = {"device": "sim:h100", "options": {"task.rows": 8, "task.cols": 64, "sweep.variants": 1, "confirm.enabled": False},
         "flags": ("--places", "1")}
TASK = os.path.join(ROOT, "examples/softmax.py")


class Folder(unittest.TestCase):
    def setUp(self):
        self.out = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.out)


@unittest.skipUnless(CAWB, "CAWB_PROGRAM is not set")
class Client(Folder):
    def test_scores_sessions_and_coroutines(self):
        with cawb.serve(TASK, out=self.out, **SMALL) as env:
            self.assertEqual([task["name"] for task in env.tasks()], ["softmax"])
            item = env.score("softmax", **RIGHT)
            self.assertTrue(item["ok"] and item["reward"] >= 1)
            self.assertEqual(env.score("softmax", text="I cannot.")["reward"], -1)
            with self.assertRaisesRegex(cawb.Refused, "did you mean 'softmax'"):
                env.score("sofmax", **RIGHT)
            with self.assertRaisesRegex(TypeError, "give a candidate"):
                env.score("softmax")
            with env.session(task="softmax", turns=1) as one:
                self.assertIn("def forward(self, x)", one.first.observation["text"])
                step = one.step(**RIGHT)
                self.assertTrue(step.done and step.reward >= 1, step)
                self.assertEqual(one.state()["step_count"], 1)
                with self.assertRaisesRegex(RuntimeError, "VALIDATION_ERROR"):
                    one.step(sauce="x")
            asyncio.run(self.several(env.url))
            self.assertEqual(env.process.poll(), None)
        self.assertEqual(env.process.returncode, 0)

    def test_prompts_and_the_reward_of_trl_need_no_more_than_the_package(self):
        from cawb import trl_env
        with cawb.serve(TASK, out=self.out, **SMALL) as env:
            rows = env.prompts()
            self.assertEqual([row["task"] for row in rows], ["softmax"])
            for part in ("def forward(self, x)", "```cuda", "plan.lua"):
                self.assertIn(part, rows[0]["prompt"])
            self.assertEqual(env.prompts("softmax"), rows)
            reply = "It adds.\n```cuda\n%s```\n```lua\n%s```\n" % (RIGHT["source"], RIGHT["plan"])
            good, bad = trl_env.reward(env)([reply, "I cannot."], task=["softmax", "softmax"])
            self.assertTrue(good >= 1 and bad == -1, (good, bad))
            with self.assertRaisesRegex(cawb.Refused, "did you mean 'softmax'"):
                env.score_all([{"task": "softmax", "candidate": RIGHT}, {"task": "sofmax", "candidate": RIGHT}])
            one, other = env.score_all([{"task": "softmax", "candidate": RIGHT}, {"task": "sofmax", "candidate": RIGHT}], strict=False)
            self.assertTrue(one["ok"] and "ok" not in other, (one, other))
            self.assertRegex(other["error"], r"^items\[1\]: .*did you mean 'softmax'")

    async def several(self, url):
        async with cawb.aconnect(url) as env:
            items = await asyncio.gather(*(env.score("softmax", **RIGHT) for _ in range(3)))
            self.assertEqual([item["memo"] for item in items], [True] * 3)

    def test_tasks_that_cawb_comes_with_are_served_in_any_folder(self):
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.out)
        with cawb.serve("examples/softmax.py", "examples/gelu.py", out=self.out, device="sim:h100") as env:
            self.assertEqual([task["name"] for task in env.tasks()], ["softmax", "gelu"])

    def test_a_server_that_is_not_there_is_named(self):
        with self.assertRaisesRegex(cawb.Failed, "http://127.0.0.1:9/health: .*`cawb serve` prints its address when it listens"):
            cawb.connect("http://127.0.0.1:9", tries=1)

    def test_a_server_that_does_not_start_says_why(self):
        with self.assertRaisesRegex(cawb.Failed, "nosuch.py"):
            cawb.serve(os.path.join(self.out, "nosuch.py"), out=self.out, **SMALL)


class Flaky(http.server.BaseHTTPRequestHandler):
    """Drops the first connection, says 503, queues, and then answers."""
    seen = []

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.seen.append(body["request_id"])
        if len(self.seen) == 1:
            return self.connection.close()
        status, answer = {2: (503, {"error": "busy"}), 3: (202, {"done": 0, "of": 1})}.get(
            len(self.seen), (200, {"items": [{"ok": True, "reward": 2}]}))
        data = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        return self.wfile.write(data)

    def log_message(self, *_):
        pass


class Retries(unittest.TestCase):
    def test_a_request_is_sent_again_under_its_name(self):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Flaky)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        env = cawb.Env("http://127.0.0.1:%d" % server.server_port)
        self.assertEqual(env.score("softmax", text="x")["reward"], 2)
        self.assertEqual((len(Flaky.seen), len(set(Flaky.seen))), (4, 1))

    def test_nobody_there(self):
        with self.assertRaises(cawb.Failed):
            cawb.connect("http://127.0.0.1:9", tries=2)


@unittest.skipUnless(importlib.util.find_spec("pip"), "this Python has no pip")
class Wheel(Folder):
    def test_it_brings_program_and_client(self):
        tree = os.path.join(self.out, "tree")
        os.makedirs(os.path.join(tree, "bin"))
        with open(os.path.join(tree, "bin", "cawb"), "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\necho program \"$@\"\n")
        os.chmod(file.name, 0o755)
        made = subprocess.run([sys.executable, os.path.join(ROOT, "cmake/wheel.py"), tree, os.path.join(ROOT, "python/cawb"), "0.1.0",
                               self.out], capture_output=True, text=True, check=True, timeout=LIMIT).stdout.strip()
        into = os.path.join(self.out, "installed")
        subprocess.run([sys.executable, "-m", "pip", "install", "-q", "--no-index", "--no-deps", "--target", into, made], check=True,
                       timeout=LIMIT, capture_output=True)
        environment = {"PATH": os.environ["PATH"], "PYTHONPATH": into}
        said = subprocess.run([sys.executable, "-m", "cawb", "serve", "x"], capture_output=True, text=True, check=True, env=environment,
                              cwd=self.out, timeout=LIMIT).stdout
        self.assertEqual(said, "program serve x\n")


if __name__ == "__main__":
    unittest.main()
