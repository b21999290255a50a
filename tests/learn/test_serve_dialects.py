"""What training programs send to `cawb serve` as they are, and agents over HTTP: OpenRLHF's remote reward function, slime's,
NeMo-Gym's resources server, KernelGYM's clients, the Model Context Protocol."""
import unittest
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))

from serving import CAWB, rung, text_of
from test_serve import Serving

RIGHT = rung("v1_thread_per_row")
REPLY = "It adds.\n```cuda\n%s```\n```lua\n%s```\n" % (RIGHT["source"], RIGHT["plan"])


@unittest.skipUnless(CAWB, "CAWB_PROGRAM is not set")
class Dialects(Serving):
    words = ("examples/softmax.py", "examples/gelu.py")
    flags = ("--set", "confirm.enabled=false", "--sessions", "1")

    def test_openrlhf(self):
        prompt = "An example:\n```cuda\nno kernel\n```\nNow you.\n"
        status, answer = self.server.ask("POST", "/reward/openrlhf", {
            "query": [prompt + REPLY, prompt + "I cannot."], "prompts": [prompt, prompt], "labels": ["softmax", "gelu"]})
        self.assertEqual(status, 200, answer)
        self.assertTrue(answer["rewards"][0] >= 1 and answer["rewards"][1] == -1, answer)
        self.assertEqual(answer["scores"], answer["rewards"])
        self.assertEqual(answer["extra_logs"], {"passed": [1, 0]})
        self.assertEqual(self.server.ask("POST", "/reward/openrlhf", {"query": ["x"], "labels": []})[0], 422)
        status, answer = self.server.ask("POST", "/reward/openrlhf", {"query": ["x"], "labels": ["softmax"], "prompts": 5})
        self.assertTrue(status == 422 and "'prompts'" in answer["error"], answer)

    def test_slime(self):
        status, reward = self.server.ask("POST", "/reward/slime", {"prompt": "...", "response": REPLY, "label": "softmax"})
        self.assertTrue(status == 200 and reward >= 1, reward)
        self.assertEqual(self.server.ask("POST", "/reward/slime", {"response": "no", "label": "softmax"}), (200, -1))
        self.assertEqual(self.server.ask("POST", "/reward/slime", {"response": "no", "label": "nosuch"})[0], 422)

    def test_nemo_gym(self):
        asked = {"responses_create_params": {"input": [{"role": "user", "content": "..."}]}, "verifier_metadata": {"task": "softmax"}}
        self.assertEqual(self.server.ask("POST", "/seed_session", asked), (200, {}))
        said = {"output": [{"type": "reasoning"}, {"type": "message", "content": [{"type": "output_text", "text": REPLY}]}]}
        status, answer = self.server.ask("POST", "/verify", dict(asked, response=said))
        self.assertTrue(status == 200 and answer["reward"] >= 1 and answer["response"] == said, answer)
        self.assertEqual(answer["responses_create_params"], asked["responses_create_params"])
        odd = {"output": [5, {"type": "message", "content": [3, "text", {"type": "output_text", "text": 7}]}]}
        status, answer = self.server.ask("POST", "/verify", dict(asked, response=odd))
        self.assertEqual((status, answer.get("reward")), (200, -1), answer)

    def test_kernelgym(self):
        body = {"task_id": "t1", "reference_code": text_of("examples/softmax.py"), "kernel_code": REPLY, "backend": "cuda",
                "entry_point": "Model", "num_correct_trials": 5, "num_perf_trials": 100, "timeout": 300}
        status, answer = self.server.ask("POST", "/evaluate", body)
        self.assertEqual((status, answer["status"], answer["compiled"], answer["correctness"], answer["decoy_kernel"]),
                         (200, "completed", True, True, False), answer)
        self.assertAlmostEqual(answer["speedup"], answer["reference_runtime"] / answer["kernel_runtime"])
        self.assertEqual(self.server.ask("POST", "/evaluate", body), (status, answer))
        self.assertEqual(self.server.ask("GET", "/results/t1"), (status, answer))
        self.assertEqual(self.server.ask("GET", "/status/t1")[1]["status"], "completed")
        self.assertEqual(self.server.ask("POST", "/evaluate", dict(body, kernel_code="other"))[0], 409)
        self.assertEqual(self.server.ask("POST", "/evaluate", dict(body, task_id="t2", reference_code="import os"))[0], 422)
        self.assertEqual(self.server.ask("GET", "/results/t3")[0], 404)

    def test_an_agent_over_http(self):
        def ask(method, params, session=None, path="/mcp?task=softmax"):
            return self.server.ask("POST", path, {"jsonrpc": "2.0", "id": 1, "method": method, "params": params},
                                   {"Mcp-Session-Id": session} if session else {})
        hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
        self.assertEqual(ask("initialize", hello, path="/mcp")[0], 422)
        self.assertEqual(ask("tools/list", {})[0], 400)
        status, answer, session = self.server.ask_for_header("/mcp?task=softmax", {"jsonrpc": "2.0", "id": 1, "method": "initialize",
                                                                                  "params": hello}, "Mcp-Session-Id")
        self.assertIn("torch.softmax", answer["result"]["instructions"])
        self.assertEqual(ask("initialize", hello)[0], 503)          # --sessions 1
        names = [tool["name"] for tool in ask("tools/list", {}, session)[1]["result"]["tools"]]
        self.assertIn("measure", names)
        for path, text in (("kernel.cu", RIGHT["source"]), ("plan.lua", RIGHT["plan"])):
            ask("tools/call", {"name": "write_file", "arguments": {"path": path, "text": text}}, session)
        result = ask("tools/call", {"name": "measure", "arguments": {}}, session)[1]["result"]
        self.assertTrue("PASS" in result["content"][0]["text"] and not result["isError"], result)
        self.assertEqual(self.server.ask("DELETE", "/mcp", headers={"Mcp-Session-Id": session})[0], 200)
        self.assertEqual(ask("tools/list", {}, session)[0], 404)


@unittest.skipUnless(CAWB, "CAWB_PROGRAM is not set")
class Python(Serving):
    """On a device that runs Python candidates."""
    words, flags = ("examples/softmax.py",), ("--device", "cpu", "--accept-tasks", "--set", "measure.against=eager",
                                              "--set", "measure.rounds=2", "--set", "measure.processes=1")

    def test_kernelgym_with_python(self):
        code = "import torch\nclass ModelNew(torch.nn.Module):\n    def forward(self, x):\n        return torch.%s(x, dim=-1)\n"
        body = {"task_id": "p1", "reference_code": text_of("examples/softmax.py") + "# another\n", "kernel_code": code % "log_softmax"}
        status, answer = self.server.ask("POST", "/evaluate", body)
        self.assertEqual((status, answer["compiled"], answer["correctness"], answer["speedup"]), (200, True, False, 0), answer)
        status, answer = self.server.score(RIGHT)
        self.assertEqual((answer["items"][0]["ok"], answer["items"][0]["stage"]), (False, "reply"), answer)


if __name__ == "__main__":
    unittest.main()
