"""PyTorch's own times: what a baseline reports, with a stopwatch that counts
calls instead of time where there is no GPU."""
import fcntl
import os
import sys
import tempfile
import unittest
from unittest import mock

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "support"))

from hostcase import HAVE_TORCH, NATIVE, PACKAGES, Host, Loaded, task

if HAVE_TORCH:
    import torch
    from torch._subclasses.fake_tensor import FakeTensor
    from cawb_host.judge.time import ahead, baseline
    from cawb_host.judge.workload import Workload

LINEAR = task("return F.gelu(self.fc(x))", "[torch.randn(8, 32)]",
              setup="self.fc = nn.Linear(32, 16)")


class Counter:
    """Stands in for a Stopwatch: every sample 'takes' as long as its number."""

    def __init__(self, _device):
        self.seen, self.needed = [], 0.0

    def wait(self):
        pass

    def launch_time(self, forward, args):
        forward(*args)
        return 1e-4

    call_time = launch_time

    def batch(self, forward, inputs, spin):
        taken = []
        for args in inputs:
            forward(*args)
            self.seen.append(args[0])
            taken.append((float(len(self.seen)), spin < self.needed))
        return taken


def path_of(folder, text):
    path = os.path.join(folder, "foo.py")
    with open(path, "w") as file:
        file.write(text)
    return path


@unittest.skipUnless(HAVE_TORCH, "this Python has no PyTorch")
class Baselines(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.work = Workload(path_of(folder.name, LINEAR), torch.device("cpu"), {}, 1, library=NATIVE)
        self.addCleanup(self.work.close)
        self.watch = Counter(None)
        for name, value in (("Stopwatch", lambda device: self.watch),
                            ("torch.cuda.mem_get_info", lambda device: (1 << 40, 1 << 40))):
            patch = mock.patch("cawb_host.judge.time.baseline." + name, value)
            patch.start()
            self.addCleanup(patch.stop)

    def test_samples_rotate_inputs_and_errors_are_against_float64(self):
        found = baseline.measure(self.work, ["eager"], 5, 60, 3)["eager"]
        self.assertEqual((found["samples"], found["median"]), ([1.0, 2.0, 3.0, 4.0, 5.0], 3.0))
        self.assertEqual(found["input_sets"], 2)
        self.assertIs(self.watch.seen[0], self.watch.seen[2])
        self.assertFalse(torch.equal(self.watch.seen[0], self.watch.seen[1]))
        self.assertTrue(0 < found["error"]["nrms"] < 1e-5)
        self.assertEqual(found["error"]["worst"], found["outputs"][0]["worst"])

    def test_a_kind_stays_set_up_between_calls(self):
        made = []
        with mock.patch("cawb_host.judge.time.baseline.eager", lambda work, module: made.append(1) or module):
            for _ in range(3):
                found = baseline.measure(self.work, ["eager"], 2, 60, 3)["eager"]
        self.assertEqual((len(made), found["samples"]), (1, [5.0, 6.0]))
        self.assertIs(self.watch.seen[5], self.watch.seen[1])    # the inputs went on rotating

    def test_what_is_set_up_was_not_timed_and_is_not_made_again(self):
        made = []
        self.watch.launch_time = self.watch.call_time = mock.Mock(side_effect=AssertionError("timed"))
        with mock.patch("cawb_host.judge.time.baseline.eager", lambda work, module: made.append(1) or module):
            self.assertEqual(baseline.set_up(self.work, ["eager"], 3), {"eager": {}})
            del self.watch.launch_time, self.watch.call_time
            self.watch.call_time = self.watch.launch_time
            found = baseline.measure(self.work, ["eager"], 2, 60, 3)["eager"]
        self.assertEqual((len(made), found["samples"], found["host_s"]), (1, [1.0, 2.0], 1e-4))

    def test_what_cannot_be_set_up_says_why(self):
        with mock.patch("torch.compile", side_effect=RuntimeError("no compiler")):
            self.assertIn("no compiler", baseline.set_up(self.work, ["compile"], 3)["compile"]["failed"])

    def test_a_late_host_means_another_sample_behind_a_longer_spin(self):
        self.watch.needed = 7e-4                             # the first spin is 2e-4
        found = baseline.measure(self.work, ["eager"], 2, 60, 3)["eager"]
        self.assertEqual(found["samples"], [5.0, 6.0])       # after 2e-4 and 4e-4
        self.watch.needed = 0
        baseline.measure(self.work, ["eager"], 2, 60, 3)
        baseline.measure(self.work, ["eager"], 2, 60, 3)
        self.assertEqual(self.work.baselines["eager"].spin, 2e-4)   # it was in time again
        self.watch.needed = 1.0                              # longer than any spin: it ends
        found = baseline.measure(self.work, ["eager"], 1, 60, 3)["eager"]
        self.assertEqual(len(found["samples"]), 1)

    def test_a_spent_budget_leaves_one_sample(self):
        found = baseline.measure(self.work, ["eager"], 5, 0, 3)["eager"]
        self.assertEqual(len(found["samples"]), 1)

    def test_a_batch_of_each_in_turn(self):
        found = baseline.in_turn(self.work, ["eager", "eager_tf32", "eager"], 2, 60, 3)
        self.assertEqual([b["kind"] for b in found["batches"]], ["eager", "eager_tf32", "eager"])
        self.assertEqual([b["samples"] for b in found["batches"]],
                         [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
        self.assertLess(found["kinds"]["eager_tf32"]["error"]["nrms"], 1e-5)
        self.assertNotIn("outputs", found["kinds"]["eager"])

    def test_tf32_is_allowed_while_it_runs_and_only_then(self):
        seen = []
        with mock.patch("cawb_host.judge.time.baseline.eager", lambda work, module: lambda *args: seen.append(
                torch.backends.cuda.matmul.allow_tf32) or module(*args)):
            baseline.in_turn(self.work, ["eager_tf32", "eager"], 1, 60, 3)
        half = len(seen) // 2
        self.assertEqual(seen, [True] * half + [False] * half)
        self.assertFalse(torch.backends.cuda.matmul.allow_tf32)

    def test_a_second_compiled_kind_leaves_the_first_one_alone(self):
        resets = []
        with mock.patch("torch._dynamo.reset", lambda: resets.append(1)), \
                mock.patch("torch.compile", lambda module, **how: module):
            found = baseline.in_turn(self.work, ["compile", "max_autotune", "compile_tf32"], 1, 60, 3)
        self.assertEqual((len(resets), len(found["batches"])), (1, 3))

    def test_large_inputs_are_those_of_the_trial_under_way(self):
        self.work.begin(7, 0)
        with mock.patch("cawb_host.judge.time.baseline.LARGE", 1):
            baseline.in_turn(self.work, ["eager"], 2, 60, 3)
        self.assertIs(self.watch.seen[-1], self.work.current.inputs[0])

    def file(self, text):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        return "file:" + path_of(folder.name, text)

    def test_a_file_has_the_weights_of_the_task(self):
        good = LINEAR.replace("class Model(", "class ModelNew(")
        found = baseline.measure(self.work, [self.file(good)], 1, 60, 3)
        (result,) = found.values()
        self.assertNotIn("failed", result)
        self.assertLess(result["error"]["nrms"], 1e-5)

    def test_a_file_that_is_wrong_is_a_result(self):
        for text, words in (("x = 1\n", "defines the class ModelNew or Model"),
                            ("import nothing_of_the_kind\n", "foo.py:1: ModuleNotFoundError"),
                            (LINEAR.replace("F.gelu(", "F.gel("), "AttributeError")):
            (result,) = baseline.measure(self.work, [self.file(text)], 1, 60, 3).values()
            self.assertIn(words, result["failed"])
        (result,) = baseline.measure(self.work, ["file:/none.py"], 1, 60, 3).values()
        self.assertIn("/none.py: No such file", result["failed"])

    def test_a_compiler_that_fails_is_a_result(self):
        def fail(_module, **_how):
            raise RuntimeError("no\nTriton")
        with mock.patch("torch.compile", fail):
            found = baseline.measure(self.work, ["compile", "eager"], 1, 60, 3)
        self.assertEqual(found["compile"], {"failed": "RuntimeError: no Triton"})
        self.assertEqual(len(found["eager"]["samples"]), 1)


@unittest.skipUnless(HAVE_TORCH, "this Python has no PyTorch")
class OnAProcessor(unittest.TestCase):
    def test_a_task_host_times_and_sets_up_baselines_on_a_gpu_only(self):
        host = Host()
        self.addCleanup(host.close)
        with tempfile.TemporaryDirectory() as folder:
            loaded = Loaded(host, path_of(folder, LINEAR))
            self.assertTrue(loaded.reply["ok"], loaded.reply)
            for op, more in (("baselines", {"samples": 1, "budget": 1.0}), ("set_up", {})):
                reply = host.call(op, order=["eager", "compile"], seed=5, other=6, case="mixed", **more)
                self.assertEqual(reply["name"], "unsupported", reply)


@unittest.skipUnless(HAVE_TORCH, "this Python has no PyTorch")
class Ahead(unittest.TestCase):
    """What is compiled before the GPU is had."""

    def compiled(self, text, compile_fx, *how):
        with tempfile.TemporaryDirectory() as folder, mock.patch("torch._inductor.compile_fx.compile_fx", compile_fx):
            return ahead.compile_ahead(path_of(folder, text), {}, 1, torch.device("cpu"), *how)

    def test_a_graph_is_built_without_data_as_a_baseline_has_it(self):
        seen = []

        def compile_fx(graph, examples):
            seen.append((len(examples), torch.is_grad_enabled(), torch.backends.cudnn.deterministic,
                         all(isinstance(e, FakeTensor) for e in examples)))
        self.assertIsNone(self.compiled(LINEAR, compile_fx))
        self.assertEqual(seen, [(3, False, False, True)])            # weight, bias, x
        self.assertTrue(torch.backends.cudnn.deterministic)
        self.assertEqual(float(torch.ones(2).sum()), 2.0)            # tensors have data again

    def test_both_sides_of_a_graph_break_are_built(self):
        seen = []
        text = task("torch._dynamo.graph_break()\n        return y.sum(-1)", "[torch.randn(8, 32)]")
        self.assertIsNone(self.compiled(text.replace("torch._dynamo", "y = x + 1\n        torch._dynamo"),
                                        lambda graph, examples: seen.append(len(examples))))
        self.assertEqual(seen, [1, 1])

    def test_nothing_is_measured_meanwhile(self):
        from torch._inductor.runtime import benchmarking
        before = {n: f for n, f in vars(benchmarking.InductorBenchmarker).items() if n.startswith("benchmark")}

        def compile_fx(_graph, _examples):
            benchmarking.benchmarker.benchmark_gpu(lambda: 1)
        self.assertIn("wants to take a time", self.compiled(LINEAR, compile_fx))
        self.assertTrue(before)
        for name, f in before.items():
            self.assertIs(vars(benchmarking.InductorBenchmarker)[name], f)

    def test_every_kind_is_built_as_it_is_used(self):
        seen = []

        def compile_fx(_graph, _examples, config_patches=None):
            seen.append((torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.benchmark,
                         bool(config_patches and config_patches["max_autotune"])))
        kinds = ["compile", "compile_tf32", "max_autotune"]
        self.assertIsNone(self.compiled(LINEAR, compile_fx, kinds))
        self.assertEqual(seen, [(False, False, False), (True, False, False), (False, True, True)])

    def test_max_autotune_takes_its_times_in_turn_and_with_data(self):
        from torch._inductor.runtime import benchmarking
        seen = []

        def compile_fx(_graph, _examples, config_patches=None):
            del config_patches
            with open(lock, "ab") as other:
                seen.append(benchmarking.benchmarker.benchmark(lambda: self.taken(other), (), {}, device="cpu"))
                fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)       # it was given back
        with tempfile.TemporaryDirectory() as folder:
            lock = os.path.join(folder, "lock")
            self.assertIsNone(self.compiled(LINEAR, compile_fx, ["max_autotune"], lock))
            self.assertIn("wants to take a time", self.compiled(LINEAR, compile_fx, ["max_autotune"]))
        self.assertEqual(len(seen), 1)

    def taken(self, other):
        with self.assertRaises(BlockingIOError):
            fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
        self.assertNotIsInstance(torch.ones(2), FakeTensor)

    def test_a_task_that_is_none_is_left_to_its_loading(self):
        self.assertIn("no Model", self.compiled("x = 1\n", None))


@unittest.skipUnless(HAVE_TORCH and torch.cuda.is_available(), "no GPU that PyTorch can use")
class OnTheGpu(unittest.TestCase):
    def test_a_whole_task(self):
        host = Host()
        with tempfile.TemporaryDirectory() as folder:
            loaded = Loaded(host, path_of(folder, LINEAR), device="cuda:0")
            self.assertTrue(loaded.reply["ok"], loaded.reply)
            self.assertEqual(len(loaded.reply["inputs_share"]["ipc"]), 128)
            self.assertTrue(loaded.inputs(5)["ok"])
            entry = loaded.compare()["outputs"][0]
            self.assertEqual((entry["unwritten"], entry["worst"]["error"]), (128, None))
            reply = host.call("baselines", kinds=["eager", "compile"], samples=5, budget=20, seed=5)
        for kind in ("eager", "compile"):
            self.assertNotIn("failed", reply[kind])
            self.assertEqual(len(reply[kind]["samples"]), 5)
            self.assertTrue(all(s > 0 for s in reply[kind]["samples"]))
            self.assertLess(reply[kind]["error"]["nrms"], 1e-5)
        self.assertEqual(host.close(), 0)


if __name__ == "__main__":
    unittest.main()
