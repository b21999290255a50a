"""`cawb mcp` as an agent elsewhere drives it: whole runs on the simulated device, budgets, and
clients that misbehave or go away. The official client is driven by tests/agent/mcp/run."""
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CAWB = os.environ.get("CAWB_PROGRAM")
LIMIT = 120                             # seconds after which something hangs
SMALL = ["--device", "sim:h100", "--set", "task.rows=8", "--set", "task.cols=64", "--set", "sweep.variants=1"]


def text_of(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


class Client:
    """A client that does as little as it must: lines of JSON to and from a process."""

    def __init__(self, out, *flags, strategy="strategies/ladder.lua", task="examples/softmax.py", hello=True):
        self.err = tempfile.TemporaryFile()
        self.said = None
        environment = dict(os.environ, CAWB_PYTHON=os.environ.get("CAWB_PYTHON", sys.executable))
        self.process = subprocess.Popen(
            [CAWB, "mcp", strategy, task, "--out", out, *SMALL, *flags], cwd=ROOT, env=environment,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.err)
        self.watch = threading.Timer(LIMIT, self.process.kill)
        self.watch.start()
        self.count = 0
        if hello:
            self.hello = self.ask("initialize", protocolVersion="2025-06-18", capabilities={},
                                  clientInfo={"name": "test", "version": "1"})["result"]

    def send(self, line):
        self.process.stdin.write(line if isinstance(line, bytes) else json.dumps(line).encode() + b"\n")
        self.process.stdin.flush()

    def receive(self):
        line = self.process.stdout.readline()
        assert line.endswith(b"\n"), self.errors()
        message = json.loads(line)
        assert message["jsonrpc"] == "2.0", message
        return message

    def ask(self, method, **params):
        self.count += 1
        self.send({"jsonrpc": "2.0", "id": self.count, "method": method, "params": params})
        answer = self.receive()
        assert answer["id"] == self.count, answer
        return answer

    def call(self, name, **arguments):
        result = self.ask("tools/call", name=name, arguments=arguments)["result"]
        return result["content"][0]["text"], result["isError"]

    def write(self, rung):
        for file, ending in (("kernel.cu", ".cu"), ("plan.lua", ".lua")):
            self.call("write_file", path=file, text=text_of("kernels/softmax/" + rung + ending))

    def errors(self):
        if self.said is None:
            self.err.seek(0)
            return self.err.read().decode(errors="replace")
        return self.said

    def run(self):
        for line in self.errors().splitlines():
            if line.startswith("cawb mcp: run "):
                return line.split()[-1]
        raise AssertionError(self.errors())

    def close(self):
        """What is left of standard output, and the exit status."""
        rest = b""
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass
        rest = self.process.stdout.read()
        status = self.process.wait()
        self.over()
        return rest, status

    def over(self):
        self.watch.cancel()
        self.process.stdout.close()
        self.said = self.errors()
        self.err.close()


@unittest.skipUnless(CAWB, "CAWB_PROGRAM is not set")
class Mcp(unittest.TestCase):
    def setUp(self):
        self.out = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.out)

    def query(self, sql, *params):
        with sqlite3.connect(os.path.join(self.out, "store.sqlite")) as store:
            return store.execute(sql, params).fetchall()

    def test_a_run_to_its_end(self):
        client = Client(self.out)
        self.assertIn("torch.softmax(x, dim=-1)", client.hello["instructions"])
        names = [tool["name"] for tool in client.ask("tools/list")["result"]["tools"]]
        for name in ("read_file", "write_file", "edit_file", "list", "search", "compile", "verify", "measure", "profile",
                     "skill", "submit"):
            self.assertIn(name, names)
        self.assertNotIn("shell", names)
        self.assertIn("torch.softmax", client.call("read_file", path="task/softmax.py")[0])
        self.assertTrue(client.call("write_file", path="task/softmax.py", text="x")[1])
        self.assertTrue(client.call("read_file", path="../../../etc/passwd")[1])
        self.assertIn("coalesced-access", client.call("skill", question="uncoalesced loads")[0])
        client.call("write_file", path="kernel.cu", text="this is no kernel")
        client.call("write_file", path="plan.lua", text=text_of("kernels/softmax/v3_shuffle.lua"))
        text, failed = client.call("compile")
        self.assertTrue(failed and "FAILED at compile" in text, text)
        client.write("v3_shuffle")
        self.assertEqual(client.call("verify")[1], False)
        text, failed = client.call("measure", note="shuffles")
        self.assertTrue(not failed and "PASS" in text and "modelled" in text, text)
        self.assertFalse(client.call("profile")[1])
        self.assertIn("Submitted", client.call("submit")[0])
        text, failed = client.call("measure")
        self.assertTrue(failed and "The run has ended" in text, text)
        run = client.run()
        self.assertEqual(client.close(), (b"", 0))
        self.assertEqual(self.query("select status, best_turn from run_ends where run = ?", run), [("passed", 1)])
        self.assertTrue(os.path.exists(os.path.join(self.out, run, "kernel.cu")))
        self.check_trajectory(run)
        again = Client(self.out, "--resume", run, hello=False)
        self.assertEqual(again.close()[1], 2)
        self.assertIn("has ended", again.errors())

    def test_a_schedule_of_the_compiler_is_edited(self):
        client = Client(self.out)
        page, failed = client.call("compose")
        self.assertFalse(failed, page)
        self.assertIn("modelled time", page)
        key = re.search(r'step 1 is kernel "([\d.]+)"', page).group(1)
        page, failed = client.call("compose", schedule='{ kernels = { ["%s"] = { lanes = 32 } } }' % key)
        self.assertTrue(not failed and "lanes = 32" in page, page)
        text, failed = client.call("measure", note="32 lanes a row")
        self.assertTrue(not failed and "PASS" in text, text)
        self.assertTrue(client.call("compose", schedule="{ tile = 3 }")[1])
        client.call("submit")
        self.assertEqual(client.close(), (b"", 0))

    def check_trajectory(self, run):
        text = subprocess.run([CAWB, "export", run, "--trajectory", "--out", self.out], stdout=subprocess.PIPE, check=True).stdout
        lines = [json.loads(line) for line in text.splitlines()]
        self.assertEqual(lines[1]["role"], "system")
        results = {line["tool_call_id"]: line for line in lines if line.get("role") == "tool"}
        calls = [call for line in lines for call in line.get("tool_calls", [])]
        self.assertEqual([call["id"] for call in calls], list(results))
        made = [line for line in results.values() if "turn" in line]
        self.assertEqual([(line["name"], line["turn"]) for line in made], [("measure", 1)])
        reward = made[0]["reward"]
        self.assertIn(reward, (1, 2, 3))                # which one follows from the modelled times
        self.assertEqual((lines[-1]["type"], lines[-1]["reward"], lines[-1]["best_turn"]), ("end", reward, 1))

    def test_the_budget_ends_it(self):
        client = Client(self.out, "--set", "turns=2")
        for rung in ("v1_thread_per_row", "v2_block_per_row", "v3_shuffle"):
            client.write(rung)
            last = client.call("measure")
        self.assertTrue(last[1] and "The run has ended (turns)" in last[0], last)
        for tool in ("verify", "profile", "compile"):
            self.assertTrue(client.call(tool)[1])
        self.assertFalse(client.call("skill", question="atomics")[1])
        self.assertEqual(client.close()[1], 0)
        self.assertEqual(self.query("select count(*) from turns"), [(2,)])
        self.assertEqual(self.query("select status from run_ends"), [("passed",)])

    def test_the_rules_are_in_force(self):
        client = Client(self.out)
        client.write("v3_shuffle")
        self.assertIn("clock_reads", client.hello["instructions"])
        self.assertFalse(client.call("edit_file", path="kernel.cu", old="extern \"C\"",
                                     new="__device__ long long seen;\nextern \"C\"")[1])
        client.call("edit_file", path="kernel.cu", old="const int t = threadIdx.x", new="seen = clock64();\n  const int t = threadIdx.x")
        text, failed = client.call("measure")
        self.assertTrue(failed and "clock" in text, text)
        client.close()
        self.assertEqual(self.query("select ok from turns"), [(0,)])

    def test_a_client_that_goes_away_and_comes_back(self):
        client = Client(self.out, "--set", "turns=3")
        client.write("v2_block_per_row")
        self.assertFalse(client.call("measure")[1])
        run = client.run()
        client.send(b'{"jsonrpc":"2.0","id":99,"method":"tools/ca')       # and is cut off
        self.assertEqual(client.close()[1], 0)
        self.assertIn("paused after 1 turn; go on with --resume " + run, client.errors())
        self.assertEqual(self.query("select count(*) from run_ends"), [(0,)])

        client = Client(self.out, "--set", "turns=3", "--resume", run)
        self.assertEqual(client.run(), run)
        self.assertIn("block_per_row", client.call("read_file", path="kernel.cu")[0] + "block_per_row")
        text, _ = client.call("measure")                                  # nothing has changed
        self.assertIn("The same candidate as turn 1", text)
        self.assertIn("2 turns", text)
        client.write("v3_shuffle")
        client.send({"jsonrpc": "2.0", "id": "gone", "method": "tools/call", "params": {"name": "measure"}})
        client.process.stdout.close()                                     # in the middle of a turn
        client.process.stdin.close()
        client.process.wait()
        client.over()
        self.assertEqual(self.query("select number, ok from turns order by number"), [(1, 1), (2, 1)])

        client = Client(self.out, "--set", "turns=3", "--resume", run)
        client.write("v1_thread_per_row")
        text, _ = client.call("measure")
        self.assertIn("0 turns", text)
        self.assertIn("best so far is turn 2", text)
        self.assertEqual(client.close()[1], 0)
        self.assertEqual(self.query("select best_turn from run_ends where run = ?", run), [(2,)])

    def test_a_server_that_is_killed_loses_no_turn(self):
        client = Client(self.out)
        client.write("v3_shuffle")
        self.assertFalse(client.call("measure")[1])
        run = client.run()
        client.process.kill()
        client.close()
        client = Client(self.out, "--resume", run)
        self.assertIn("The same candidate as turn 1", client.call("measure")[0])
        self.assertIn("Submitted", client.call("submit")[0])
        self.assertEqual(client.close()[1], 0)
        self.assertEqual(self.query("select number from turns"), [(1,)])

    def test_interrupted(self):
        client = Client(self.out)
        client.ask("ping")
        client.process.send_signal(signal.SIGINT)
        self.assertEqual(client.close()[1], 130)
        self.assertIn("paused after 0 turns", client.errors())

    def test_a_signal_in_the_middle_of_a_turn_lets_it_finish(self):
        client = Client(self.out)
        client.write("v3_shuffle")
        client.send({"jsonrpc": "2.0", "id": "m", "method": "tools/call",
                     "params": {"name": "measure", "arguments": {}, "_meta": {"progressToken": 1}}})
        self.assertEqual(client.receive()["method"], "notifications/progress")
        client.process.send_signal(signal.SIGTERM)
        message = client.receive()
        while message.get("method"):
            message = client.receive()
        self.assertIn("PASS", message["result"]["content"][0]["text"])
        self.assertEqual(client.close()[1], 130)
        self.assertEqual(self.query("select ok from turns"), [(1,)])
        self.assertIn("paused after 1 turn", client.errors())

    def test_only_the_protocol_on_standard_output(self):
        path = os.path.join(self.out, "loud.lua")
        with open(path, "w", encoding="utf-8") as file:
            file.write('print "hello" io.write "hello\\n" io.stdout:write "hello\\n"\n'
                       'return { turns = 1, stop = function() print "stop" end }')
        client = Client(self.out, strategy=path)
        client.write("v3_shuffle")
        self.assertFalse(client.call("measure")[1])
        self.assertEqual(client.close()[0], b"")
        self.assertEqual(client.errors().count("hello\n"), 3)

    def test_nonsense_between_the_calls_of_a_run(self):
        client = Client(self.out)
        client.write("v3_shuffle")
        for line, code in ((b"\xff\xfe\n", -32700), (b"{\n", -32700), (b"[" * 100000 + b"\n", -32700), (b"7\n", -32600),
                           (b'{"jsonrpc":"2.0","id":1,"method":"\\u0000"}\n', -32601),
                           (b'{"jsonrpc":"2.0","id":1e400,"method":"ping"}\n', None),
                           (b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"rm"}}\n', -32602)):
            client.send(line)
            answer = client.receive()
            if code is not None:
                self.assertEqual(answer["error"]["code"], code, line)
        for name, arguments in (("write_file", {"path": "kernel.cu", "text": 3}), ("write_file", {"path": "a\x00/../../b", "text": ""}),
                                ("write_file", {"path": "/etc/x", "text": ""}), ("edit_file", {"path": "kernel.cu", "old": "", "new": ""}),
                                ("measure", {"nose": 1}), ("read_file", {"path": "x" * 5000})):
            self.assertTrue(client.call(name, **arguments)[1], name)
        self.assertIn("PASS", client.call("measure")[0])
        client.close()

    def test_wrong_words(self):
        for words, says in ((["--resume", "nosuch"], "there is no run 'nosuch'"), (["--resume"], "--resume needs a value"),
                            (["--set", "turnz=1"], "did you mean 'turns'")):
            client = Client(self.out, *words, hello=False)
            self.assertEqual(client.close(), (b"", 2))
            self.assertIn(says, client.errors())


if __name__ == "__main__":
    unittest.main()
