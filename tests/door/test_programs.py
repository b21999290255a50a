"""bench/door/programs.py: a package that is missing is said, a run that is repeated goes on, and the table counts what the rows say."""
import contextlib
import importlib.util
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
os.environ.setdefault("CAWB_PROGRAM", str(ROOT / "build" / "release" / "bin" / "cawb"))
BENCH = ROOT / "bench" / "door" / "programs.py"

spec = importlib.util.spec_from_file_location("programs", BENCH)
programs = importlib.util.module_from_spec(spec)
spec.loader.exec_module(programs)

KEY = {"device": "cuda", "small": False, "lower": False, "tf32": False}
TIMES = {"eager": [4.0, 4.4, 3.6], "inductor": [2.0, 2.2, 1.8], "cawb": [1.0, 1.1, 0.9]}
RIGHT = {"right": True, "graphs": 1, "packages": 1, "fell": 0.0, "left": [], "seconds": {"cawb": 3.0, "inductor": 4.0}, "times": TIMES}


class Programs(unittest.TestCase):
    def setUp(self):
        room = tempfile.TemporaryDirectory(prefix="cawb-programs-")
        self.addCleanup(room.cleanup)
        self.store = os.path.join(room.name, "store.jsonl")

    @unittest.skipIf(importlib.util.find_spec("torchvision"), "this Python has torchvision")
    def test_a_missing_package_is_said_once(self):
        for _ in range(2):
            done = subprocess.run([sys.executable, str(BENCH), self.store, "--lower", "--only", "^squeezenet$", "--modes", "one"],
                                  capture_output=True, text=True, check=True)
        row, = programs.read(self.store)
        self.assertEqual((row["program"], row["mode"], row["missing"]), ("squeezenet", "one", "package torchvision is missing"))
        self.assertIn("1 failed or missing", done.stdout)

    def test_a_run_that_is_cut_off_leaves_no_row(self):
        subprocess.run([sys.executable, str(BENCH), self.store, "--lower", "--only", "^(squeezenet|vgg16_bn)$", "--until", "1", "--jobs", "2"],
                       capture_output=True, check=True)
        self.assertEqual(programs.read(self.store), [])

    def test_a_turn_is_one_process_and_ends_while_something_compiles(self):
        import turns                          # pylint: disable=import-outside-toplevel,import-error   # of bench/door
        turn, path = turns.Turns(self.store), self.store
        other = "import fcntl; fcntl.lockf(open(%r, 'a'), fcntl.LOCK_EX | fcntl.LOCK_NB)" % path

        def is_free():
            return subprocess.run([sys.executable, "-c", other], capture_output=True, check=False).returncode == 0
        self.addCleanup(os.sched_setaffinity, 0, os.sched_getaffinity(0))
        turn.taking(lambda: self.assertFalse(is_free()))()
        turn.clocked("one", turn.clocked("two", lambda: self.assertTrue(is_free())))()
        self.assertFalse(is_free())
        self.assertEqual(list(turn.spent()), ["one"])
        turn.give()
        self.assertTrue(is_free())

    def test_no_graph_compiles_during_a_turn(self):
        import torch                          # pylint: disable=import-outside-toplevel
        import turns                          # pylint: disable=import-outside-toplevel,import-error   # of bench/door
        import cawb                           # pylint: disable=import-outside-toplevel,import-error
        turn, found, get = turns.Turns(self.store), [], turns.backend.packages.get

        def noted(*given):
            found.append(turn.mine)
            return get(*given)
        self.addCleanup(turn.watch())
        with unittest.mock.patch.object(turns.backend.packages, "get", noted):
            fast = cawb.compile(torch.nn.Linear(4, 4), device="sim:h100")
            fast(torch.ones(4, 4)).sum().backward()
        self.assertTrue(turn.mine)            # both graphs have been executed
        self.assertEqual(found, [False, False])

    def test_gpus_share_the_jobs_and_the_processors(self):
        given, everyone = programs.options([self.store, "--jobs", "3"]), os.sched_getaffinity(0)
        with unittest.mock.patch.dict(os.environ, {"CUDA_VISIBLE_DEVICES": "4,6"}):
            free = programs.places(given)
        found = [free.get() for _ in range(free.qsize())]
        self.assertEqual([name for name, _ in found], ["4", "6"] * 3)
        if len(everyone) > 1:
            self.assertEqual(set(found[0][1]) & set(found[1][1]), set())
        self.assertLessEqual(set(found[0][1]) | set(found[1][1]), everyone)

    def test_the_table(self):
        left = [["aten.a.default", "model.py:3", "no way"]]
        rows = [dict(KEY, **RIGHT, program="one", mode="one"), dict(KEY, program="other", mode="one", failed="no memory"),
                dict(KEY, **{**RIGHT, "right": False, "fell": 0.25, "left": left, "times": None}, program="third", mode="one"),
                dict(KEY, program="fourth", mode="one", unsound="RuntimeError: two devices")]
        with contextlib.redirect_stdout(io.StringIO()) as said:
            programs.table(json.loads(json.dumps(rows)))
        text = said.getvalue()
        self.assertIn("one: 4 rows, 1 right, 1 wrong, 1 failed or missing, 1 that PyTorch does not compute, 1 whole; over the better of both 2.00x of 1, least 2.00x; 0 below 0.98x; seconds 0.75 of Inductor's", text)
        self.assertIn("4.00 [4.00, 4.00]", text)
        self.assertIn("failed: no memory", text)
        self.assertIn("  1  aten.a.default: no way (third)", text)

    def test_tasks_of_a_suite_are_programs(self):
        suite = self.store + ".suite"
        with open(suite, "w", encoding="utf-8") as file:
            json.dump({"level": 1, "problem_id": 7, "name": "scaled", "code": TASK}, file)
        subprocess.run([sys.executable, str(BENCH), self.store, "--suite", suite, "--device", "sim:h100"], capture_output=True, check=True)
        row, = programs.read(self.store)
        self.assertEqual((row["program"], row["mode"], row["right"], row["fell"]), ("1/7 scaled", "one", True, 0.0))
        self.assertLessEqual(row["close"]["cawb"], -5)

    def test_a_task_that_pytorch_does_not_compute_is_unsound(self):
        suite = self.store + ".suite"
        with open(suite, "w", encoding="utf-8") as file:
            for number, code in enumerate((TASK.replace("x * by", "x @ x"), TASK.replace("x * by", "(x * 0 + 100).exp() * 0"))):
                file.write(json.dumps({"level": 1, "problem_id": number, "name": "wrong", "code": code}) + "\n")
        subprocess.run([sys.executable, str(BENCH), self.store, "--suite", suite, "--device", "sim:h100"], capture_output=True, check=True)
        one, other = programs.read(self.store)
        self.assertIn("RuntimeError", one["unsound"])
        self.assertNotIn("right", one)
        self.assertIn("no numbers", other["unsound"])

    def test_graphnets_score(self):
        import graphnet                       # pylint: disable=import-outside-toplevel,import-error   # of bench/door
        fast = {"milliseconds": {"eager": 4.0, "inductor": 2.0, "cawb": 1.0}, "close": {"cawb": -5, "inductor": None}}
        self.assertEqual(graphnet.scores([fast, fast], "cawb", -5), [4.0, 4.0])
        self.assertEqual(graphnet.worth(fast, "cawb", -6), (graphnet.PENALTY, graphnet.PENALTY))
        self.assertEqual(graphnet.worth(fast, "inductor", 1), (graphnet.PENALTY, 1.0))
        self.assertEqual(graphnet.worth({"failed": "no memory"}, "cawb", 3), (graphnet.PENALTY, 1.0))


TASK = """import torch
class Model(torch.nn.Module):
    def forward(self, x, by):
        return x * by
def get_inputs():
    return [torch.randn(4, 8), 3.0]
def get_init_inputs():
    return []
"""

class Rounding(unittest.TestCase):
    def test_an_ill_conditioned_task_is_told_from_a_sound_one(self):
        """A difference of large numbers magnifies roundings, and each draw rounds otherwise."""
        code = ("import torch\nclass Model(torch.nn.Module):\n    def forward(self, x):\n        return %s\n"
                "def get_inputs():\n    return [torch.rand(100)]\ndef get_init_inputs():\n    return []\n")
        with tempfile.TemporaryDirectory() as folder:
            suite = pathlib.Path(folder) / "suite.jsonl"
            rows = [{"level": 1, "problem_id": i, "name": "t%d" % i, "code": code % text} for i, text in enumerate(("x * 2 + 1", "(x + 1e4) - 1e4"))]
            suite.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")

            def draws(task):
                words = [sys.executable, str(ROOT / "bench" / "door" / "rounding.py"), str(suite), task, "--draws", "4"]
                said = subprocess.run(words, check=True, capture_output=True, text=True).stdout
                return [float(word) for word in said.splitlines()[-1].split()[2:]]
            sound, poor = draws("1/0"), draws("1/1")
        self.assertLess(max(sound), 1e-6)
        self.assertGreater(min(poor), 1e-5)
        self.assertGreater(len(set(poor)), 1)


if __name__ == "__main__":
    unittest.main()
