"""What is said about outputs of each type, and of which call the reference is."""
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "support"))

from hostcase import HAVE_TORCH, TaskCase, task

if HAVE_TORCH:
    import torch

SOFTMAX = task("return torch.softmax(x, dim=1)", "[torch.randn(rows, 64)]", head="rows = 32")


class Kinds(TaskCase):
    def test_half_double_and_bfloat16(self):
        for dtype in ("float16", "bfloat16", "float64"):
            loaded = self.load(task("return x * 3", "[torch.rand(8, 9, dtype=torch.%s)]" % dtype))
            loaded.inputs(1)
            self.assertEqual(loaded.compare()["outputs"][0]["unwritten"], 72, dtype)
            loaded.output().copy_(loaded.input() * 3)
            entry = loaded.compare()["outputs"][0]
            self.assertEqual((entry["dtype"], entry["unwritten"]), (dtype, 0))
            self.assertEqual(entry["eager"]["worst"], entry["worst"]["error"])

    def test_a_poison_that_is_no_nan_is_found_as_well(self):
        loaded = self.load(task("return x * 3", "[torch.rand(8, 9, dtype=torch.float64)]"))
        loaded.inputs(1, poison=0x40004000)
        loaded.output()[1:].copy_(loaded.input()[1:] * 3)
        entry = loaded.compare(poison=0x40004000)["outputs"][0]
        self.assertEqual((entry["unwritten"], entry["nan"], entry["nrms"]), (9, 0, None))

    def test_a_right_value_with_the_poison_s_bits_was_written(self):
        loaded = self.load(task("return x * 3", "[torch.tensor([1.0, 1.0, 2.0, 0.0]).half()]"))
        loaded.inputs(1, poison=0x42004200)                      # 3.0 in float16
        loaded.output().copy_(torch.tensor([3.0, 3.0, 3.0, 3.0]))
        self.assertEqual(loaded.compare(poison=0x42004200)["outputs"][0]["unwritten"], 2)
        loaded.output().copy_(loaded.input() * 3)
        self.assertEqual(loaded.compare(poison=0x42004200)["outputs"][0]["unwritten"], 0)

    def test_an_error_beyond_float64_is_no_small_error(self):
        loaded = self.load(task("return x * 1e308", "[torch.ones(1, 4, dtype=torch.float64)]"))
        loaded.inputs(1)
        loaded.output().copy_(loaded.input() * -1e308)
        entry = loaded.compare()["outputs"][0]
        self.assertEqual((entry["worst"]["error"], entry["nrms"], entry["far"]), (None, None, 1))

    def test_integers_are_exact(self):
        loaded = self.load(task("return torch.argmax(x, dim=1)", "[torch.rand(6, 50)]"))
        loaded.inputs(1)
        self.assertEqual(loaded.compare()["outputs"][0]["unwritten"], 6)
        right = torch.argmax(loaded.input(), 1)
        loaded.output().copy_(right)
        entry = loaded.compare()["outputs"][0]
        self.assertEqual((entry["mismatches"], entry["unwritten"], entry["dtype"]), (0, 0, "int64"))
        self.assertNotIn("first", entry)
        loaded.output()[4] += 1
        entry = loaded.compare()["outputs"][0]
        self.assertEqual((entry["mismatches"], entry["eager"]["mismatches"]), (1, 0))
        self.assertEqual(entry["first"],
                         {"index": [4], "got": int(right[4]) + 1, "want": int(right[4])})

    def test_integers_may_also_be_eager_pytorch_s(self):
        loaded = self.load(task("return torch.floor(x * 1000.3).to(torch.int32)",
                                "[torch.rand(300, 1000)]"))
        loaded.inputs(1)
        eager = torch.floor(loaded.input() * 1000.3).to(torch.int32)
        exact = torch.floor(loaded.input().double() * 1000.3).to(torch.int32)
        split = int((eager != exact).sum())
        self.assertGreater(split, 0)
        mixed = torch.where(torch.arange(1000) % 2 == 0, eager, exact)
        for right in (eager, exact, mixed):
            loaded.output().copy_(right)
            entry = loaded.compare()["outputs"][0]
            self.assertEqual((entry["mismatches"], entry["eager"]["mismatches"]), (0, split))
        loaded.output()[2, 5] += 1
        loaded.output()[299, 999] += 1
        entry = loaded.compare()["outputs"][0]
        self.assertEqual((entry["mismatches"], entry["first"]["index"]), (2, [2, 5]))

    def test_eager_s_own_poison_is_not_unwritten(self):
        loaded = self.load(task("return torch.floor(x * 10).to(torch.int32)",
                                "[torch.full((4,), 0.7)]"))     # 6.99999988 or 7
        loaded.inputs(1, poison=7)
        entry = loaded.compare(poison=7)["outputs"][0]
        self.assertEqual((entry["eager"]["mismatches"], entry["mismatches"], entry["unwritten"]),
                         (4, 0, 0))

    def test_bools_are_compared_as_bytes(self):
        loaded = self.load(task("return x > 0.5", "[torch.rand(3, 5)]"))
        loaded.inputs(1)
        self.assertEqual(loaded.compare()["outputs"][0]["unwritten"], 15)
        loaded.output().copy_(loaded.input() > 0.5)
        self.assertEqual(loaded.compare()["outputs"][0]["mismatches"], 0)
        loaded.output().view(torch.uint8)[2, 2] = 7
        self.assertEqual(loaded.compare()["outputs"][0]["first"]["got"], 7)

    def test_tuples_and_dicts_of_outputs(self):
        loaded = self.load(task("return x + 1, [x * 2, x.sum()]", "[torch.rand(3, 5)]"))
        self.assertEqual([(o["name"], o["shape"], o["offset"]) for o in loaded.reply["outputs"]],
                         [("[1]", [3, 5], 0), ("[2][1]", [3, 5], 256), ("[2][2]", [], 512)])
        loaded.inputs(1)
        loaded.output(0).copy_(loaded.input() + 1)
        loaded.output(2).copy_(loaded.input().sum())
        entries = loaded.compare()["outputs"]
        self.assertEqual([e["unwritten"] for e in entries], [0, 15, 0])
        self.assertEqual(entries[2]["worst"]["index"], [])
        loaded = self.load(task("return {'a': x, 'b': x * 2}", "[torch.rand(3)]"))
        self.assertEqual([o["name"] for o in loaded.reply["outputs"]], ["a", "b"])

    def test_empty_outputs(self):
        loaded = self.load(task("return x[:0]", "[torch.rand(3, 5)]"))
        loaded.inputs(1)
        entry = loaded.compare()["outputs"][0]
        self.assertEqual((entry["numel"], entry["worst"]["error"], entry["far"]), (0, 0.0, 0))

    def test_the_reference_is_float64_unless_the_task_forbids_it(self):
        loaded = self.load(task("return self.fc(x) @ torch.ones(4, 4) @ self.loose",
                                "[torch.rand(2, 3)]",
                                setup="self.fc = nn.Linear(3, 4); self.loose = torch.ones(4, 4)"))
        loaded.inputs(1)
        self.assertEqual(loaded.compare()["reference"], "float64")
        self.assertIn("'loose' is neither", " ".join(loaded.reply["notes"]))
        for body in ("return x.float() * 2", "return x @ torch.ones(3, 3, dtype=torch.float32)"):
            loaded = self.load(task(body, "[torch.rand(2, 3)]"))
            loaded.inputs(1)
            self.assertEqual(loaded.compare()["reference"], "float64")
        for body in ("return x.view(torch.int32).view(torch.float32) * 2", "return x + torch.rand(3)"):
            loaded = self.load(task(body, "[torch.rand(2, 3)]"))
            loaded.inputs(1)
            reply = loaded.compare()
            self.assertEqual((reply["reference"], reply["outputs"][0]["eager"]["worst"]),
                             ("float32", 0.0))

    def test_state_does_not_leak_from_call_to_call(self):
        body = "self.n += 1; self.bn(x); x.add_(1); return x * self.n + self.bn.running_mean"
        loaded = self.load(task(body, "[torch.rand(8, 4)]",
                                setup="self.n = 0; self.bn = nn.BatchNorm1d(4)"))
        self.assertTrue(loaded.reply["deterministic"])
        for seed in (1, 2, 1):
            loaded.inputs(seed)
            x = loaded.input().clone()
            loaded.output().copy_(x + 1 + 0.1 * x.mean(0))
            self.assertLess(loaded.compare()["outputs"][0]["worst"]["error"], 1e-6)

    def test_recent_seeds_are_kept_and_old_ones_dropped(self):
        head = "calls = []\ndef count():\n    calls.append(0)\n    return len(calls)"
        loaded = self.load(task("return x * 1", "[torch.full((3,), count())]", head=head))

        def made(seed):
            loaded.inputs(seed)
            return int(loaded.input()[0])

        first, last = made(0), [made(seed) for seed in range(1, 10)][-1]
        self.assertEqual(made(9), last)
        self.assertEqual(made(8), last - 1)
        self.assertEqual(made(0), last + 1)
        self.assertLess(first, last)

    def test_a_seed_that_was_dropped_comes_back_the_same(self):
        loaded = self.load(SOFTMAX)
        loaded.inputs(0)
        right = torch.softmax(loaded.input(), 1)
        for seed in range(1, 12):
            loaded.inputs(seed)
            loaded.compare()
        loaded.inputs(0)
        loaded.output().copy_(right)
        self.assertLess(loaded.compare()["outputs"][0]["nrms"], 1e-6)


if __name__ == "__main__":
    unittest.main()
