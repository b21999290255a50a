"""Inputs from seeds, poisoned outputs, and what is said about an output."""
import json
import unittest
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "support"))

from hostcase import HAVE_TORCH, POISON, TaskCase, task

if HAVE_TORCH:
    import torch

SOFTMAX = task("return torch.softmax(x, dim=1)", "[torch.randn(rows, 64)]", head="rows = 32")


class Inputs(TaskCase):
    def test_how_large_a_few_elements_usually_are(self):
        text = task("return x.sum(), x * 2, (x > 0).sum()", "[torch.randn(rows)]", head="rows = 1000")
        sums, doubled, count = self.load(text).reply["outputs"]
        self.assertTrue(3 < sums["typical"] < 90, sums)      # a standard deviation is 31.6
        self.assertNotIn("typical", doubled)
        self.assertNotIn("typical", count)

    def test_a_seed_makes_the_same_inputs_again(self):
        loaded = self.load(SOFTMAX)
        seen = []
        for seed in (1, 2, 1, (1 << 63) - 1, str((1 << 63) - 1)):
            self.assertTrue(loaded.inputs(seed)["ok"])
            seen.append(loaded.input().clone())
        self.assertTrue(torch.equal(seen[0], seen[2]))
        self.assertTrue(torch.equal(seen[3], seen[4]))
        self.assertFalse(torch.equal(seen[0], seen[1]))

    def test_outputs_are_poisoned(self):
        loaded = self.load(SOFTMAX)
        loaded.inputs(1, poison=0xdeadbeef)
        words = loaded.output().view(torch.int32)
        self.assertTrue(bool((words == 0xdeadbeef - (1 << 32)).all()))

    def test_a_reference_of_the_output_s_own_type_says_how_often_it_was_rounded(self):
        def roundings(forward, inputs):
            loaded = self.load(task(forward, inputs))
            loaded.inputs(1)
            return loaded.compare()["outputs"][0].get("roundings")
        double = "[torch.rand(3, 700, dtype=torch.float64)]"
        self.assertEqual(roundings("return torch.cumsum(x, 1) * 2", double), 701)
        self.assertEqual(roundings("return x.t() @ x", double), 700)     # the longest of a product's dimensions
        self.assertEqual(roundings("return x.sum()", double), 2100)
        self.assertIsNone(roundings("return torch.cumsum(x, 1)", "[torch.rand(3, 700)]"))

    def test_what_is_in_doubt_is_held_against_straightforward_kernels_where_there_is_time(self):
        for size, known in ((3000, True), (30000, False)):
            loaded = self.load(task("return torch.softmax(x, 1).sum(1)", "[torch.rand(2, %d)]" % size))
            loaded.inputs(1)
            loaded.output().copy_(torch.tensor([1.0, 1.0001]))
            entry = loaded.compare()["outputs"][0]
            self.assertTrue("terms" in entry)
            self.assertEqual("plain" in entry, known, size)

    def test_numbers_and_lists(self):
        loaded = self.load(task("return x * args[1] + args[2][0] * args[2][1]",
                                "[torch.rand(3), 2.5, [torch.rand(3), 4], True, None, 'a']"))
        specs = loaded.reply["inputs"]
        self.assertEqual([specs[1], specs[3], specs[4], specs[5]],
                         [{"value": 2.5}, {"value": True}, {"none": True}, {"value": "a"}])
        self.assertEqual(specs[2]["items"][1], {"value": 4})
        loaded.inputs(3)
        inner = loaded.tensor("inputs", specs[2]["items"][0])
        loaded.output().copy_(loaded.input() * 2.5 + inner * 4)
        self.assertLess(loaded.compare()["outputs"][0]["worst"]["error"], 1e-6)

    def test_shapes_and_plain_values_must_not_change_with_the_seed(self):
        for made, words in (
                ("[torch.rand(1 + torch.randint(1000, ()).item())]", "must not depend on the seed"),
                ("[torch.rand(3), torch.rand(1).item()]", "input 2 is no tensor and changes"),
                ("[torch.rand(3), [4, [torch.rand(1).item()]]]", "input 2 is no tensor")):
            reply = self.refuse(task("return x * 2", made))
            self.assertEqual(reply["name"], "task")
            self.assertRegex(reply["message"], r"foo\.py:12: .*" + words)

    def test_a_change_that_loading_did_not_see_is_found_later(self):
        late = "import torch\ndef late(a, b):\n    return a if torch.initial_seed() < 100 else b"
        for first, then, words in (
                ("2.5", "1.25", "(2.5, then 1.25): kernels are launched with the value seen first;"
                                " make it a tensor or a constant"),
                ("None", "1", "(None, then 1)"), ("True", "1", "(True, then 1)"),
                ("torch.rand(3)", "torch.rand(4)", "shapes and dtypes must not depend")):
            loaded = self.load(task("return x", "[torch.rand(3), late(%s, %s)]" % (first, then),
                                    head=late))
            self.assertTrue(loaded.inputs(5)["ok"])
            reply = loaded.inputs(100)
            self.assertEqual((reply["ok"], reply["name"]), (False, "task"))
            self.assertIn(words, reply["message"])
            self.assertRegex(reply["message"], r"foo\.py:\d+: ")

    def test_strides_are_kept(self):
        loaded = self.load(task("return x + args[1] + args[2]",
                                "[torch.rand(5, 3).t(), torch.rand(3, 10)[:, ::2],"
                                " torch.rand(5).expand(3, 5)]"))
        self.assertEqual([s["strides"] for s in loaded.reply["inputs"]], [[1, 3], [10, 2], [0, 1]])
        self.assertEqual([s["bytes"] for s in loaded.reply["inputs"]], [60, 116, 20])
        self.assertEqual(loaded.reply["outputs"][0]["strides"], [5, 1])
        loaded.inputs(1)
        loaded.output().copy_(sum(loaded.input(i) for i in range(3)))
        self.assertLess(loaded.compare()["outputs"][0]["worst"]["error"], 1e-6)

    def test_writing_to_the_inputs_share_changes_no_reference(self):
        loaded = self.load(SOFTMAX)
        loaded.inputs(1)
        right = torch.softmax(loaded.input(), 1)
        loaded.input().zero_()
        loaded.output().copy_(right)
        self.assertLess(loaded.compare()["outputs"][0]["nrms"], 1e-6)
        loaded.inputs(1)
        self.assertGreater(float(loaded.input().abs().sum()), 0)


class Compare(TaskCase):
    def judged(self, change, text=SOFTMAX, right=lambda x: torch.softmax(x, 1), seed=5, **fields):
        """The entry for the right output after `change` has spoiled it."""
        loaded = self.load(text, **fields)
        loaded.inputs(seed)
        loaded.output().copy_(right(loaded.input()))
        change(loaded.output())
        reply = loaded.compare()
        self.assertTrue(reply["ok"], reply)
        self.assertNotIn("NaN", json.dumps(reply))
        return reply["outputs"][0]

    def test_a_right_output(self):
        entry = self.judged(lambda y: None)
        self.assertEqual((entry["shape"], entry["dtype"], entry["numel"]),
                         ([32, 64], "float32", 2048))
        self.assertEqual([entry[k] for k in ("unwritten", "nan", "nan_missing", "inf_mismatch")],
                         [0] * 4)
        self.assertEqual(entry["eager"]["worst"], entry["worst"]["error"])
        self.assertTrue(0 < entry["nrms"] < 1e-6)
        self.assertTrue(0 < entry["rms"] < entry["scale"] <= 1)

    def test_an_untouched_output(self):
        loaded = self.load(SOFTMAX)
        loaded.inputs(1)
        entry = loaded.compare()["outputs"][0]
        self.assertEqual((entry["unwritten"], entry["nan"]), (2048, 2048))
        self.assertIsNone(entry["worst"]["error"])
        self.assertIsNone(entry["nrms"])

    def test_one_nan(self):
        entry = self.judged(lambda y: y[3, 17].fill_(float("nan")))
        self.assertEqual((entry["nan"], entry["unwritten"]), (1, 0))
        self.assertEqual((entry["worst"]["error"], entry["worst"]["index"], entry["worst"]["got"]),
                         (None, [3, 17], None))
        self.assertEqual((entry["nrms"], entry["worst_row"], entry["bias"]), (None,) * 3)

    def test_one_infinity(self):
        entry = self.judged(lambda y: y[31, 63].fill_(-float("inf")))
        self.assertEqual((entry["inf_mismatch"], entry["nan"]), (1, 0))
        self.assertEqual((entry["worst"]["error"], entry["worst"]["got"], entry["worst"]["index"]),
                         (None, "-inf", [31, 63]))

    def test_a_number_with_the_poison_s_bits_may_have_been_written(self):
        """Of 16 bits there are few patterns: a sum that cancels may have the poison's, and be off by more than itself."""
        loaded = self.load(task("return x * 1", "[torch.randn(64, 64, dtype=torch.bfloat16)]"))
        loaded.inputs(1)
        want = loaded.input()
        at = int(want.abs().argmin())
        for off, unwritten in ((0.04, 0), (4.0, 1)):
            value = (want.view(-1)[at].float() + off).to(torch.bfloat16)
            pattern = int(value.view(torch.int16)) & 0xffff
            loaded.inputs(1, poison=pattern << 16 | pattern)
            out = loaded.output()
            out.copy_(want)
            out.view(-1)[at] = value
            reply = loaded.compare(poison=pattern << 16 | pattern)
            self.assertTrue(reply["ok"], reply)
            self.assertEqual(reply["outputs"][0]["unwritten"], unwritten)

    def test_one_unwritten_element(self):
        entry = self.judged(lambda y: y.view(torch.int32)[7, 1].fill_(POISON))
        self.assertEqual((entry["unwritten"], entry["worst"]["index"]), (1, [7, 1]))

    def test_one_skipped_row_that_holds_zeros(self):
        entry = self.judged(lambda y: y[9].zero_())
        self.assertEqual(entry["unwritten"], 0)
        self.assertEqual(entry["worst_row"]["index"], 9)
        self.assertAlmostEqual(entry["worst_row"]["nrms"], 1, places=6)
        self.assertEqual((entry["worst"]["index"][0], entry["worst"]["got"]), (9, 0))
        self.assertLess(entry["eager"]["worst_row"]["nrms"], 1e-6)

    def test_off_by_one(self):
        entry = self.judged(lambda y: y.copy_(y.roll(1, 1)))
        self.assertGreater(entry["nrms"], 0.1)
        self.assertGreater(entry["worst"]["error"], 1000 * entry["eager"]["worst"])

    def test_the_worst_element_is_found_in_any_block(self):
        text = task("return x + 1", "[torch.rand(70, 5000)]")  # more than one block
        for place in ([0, 0], [69, 4999], [52, 2144], [35, 1]):
            entry = self.judged(lambda y: y[place[0], place[1]].sub_(2), text, lambda x: x + 1)
            self.assertEqual(entry["worst"]["index"], place)
            self.assertAlmostEqual(entry["worst"]["error"], 2, places=5)
            self.assertEqual(entry["worst_row"]["index"], place[0])

    def test_a_long_single_row(self):
        text = task("return x + 1", "[torch.rand(600001)]")
        entry = self.judged(lambda y: y[600000].sub_(2), text, lambda x: x + 1)
        self.assertEqual((entry["worst"]["index"], entry["worst_row"]["rows"]), ([600000], 1))
        entry = self.judged(lambda y: y[599999].fill_(float("nan")), text, lambda x: x + 1)
        self.assertEqual((entry["worst"]["index"], entry["nan"]), ([599999], 1))

    def test_a_column_of_results_is_one_row(self):
        text = task("return x.sum(1, keepdim=True)", "[torch.rand(16, 8)]")
        entry = self.judged(lambda y: None, text, lambda x: x.sum(1, keepdim=True))
        self.assertEqual(entry["worst_row"]["rows"], 1)

    def test_rows_of_zeros_have_no_scale_of_their_own(self):
        text = task("return F.relu(x)", "[torch.tensor([[1., 2., 3.], [-1., -2., -3.]])]")
        entry = self.judged(lambda y: None, text, torch.relu)
        self.assertEqual((entry["nrms"], entry["worst_row"]["nrms"]), (0, 0))
        entry = self.judged(lambda y: y[1, 1].fill_(1), text, torch.relu)
        self.assertEqual(entry["worst_row"]["index"], 1)
        self.assertAlmostEqual(entry["worst_row"]["nrms"], (1 / 3) ** 0.5 / (14 / 6) ** 0.5)

    def test_a_signed_error_shows_in_the_bias(self):
        entry = self.judged(lambda y: y.mul_(1.001))
        self.assertAlmostEqual(entry["nrms"], 1e-3, places=5)
        self.assertTrue(3e-4 < entry["bias"] < 1e-3)

    def test_infinities_and_nans_that_belong_there(self):
        text = task("return torch.log(x)", "[torch.tensor([[-1., 0., 1., 2., 3.]])]")
        entry = self.judged(lambda y: None, text, torch.log)
        self.assertEqual([entry[k] for k in ("nan", "nan_missing", "inf_mismatch")], [0] * 3)
        self.assertLess(entry["worst"]["error"], 1e-6)
        self.assertLess(entry["eager"]["worst"], 1e-6)
        entry = self.judged(lambda y: y[0, 3].add_(1), text, torch.log)
        self.assertEqual(entry["worst"]["index"], [0, 3])
        self.assertAlmostEqual(entry["worst"]["error"], 1, places=5)
        entry = self.judged(lambda y: y[0, 0].zero_(), text, torch.log)
        self.assertEqual((entry["nan_missing"], entry["worst"]["error"]), (1, None))
        entry = self.judged(lambda y: y[0, 1].fill_(float("inf")), text, torch.log)
        self.assertEqual((entry["inf_mismatch"], entry["worst"]["want"]), (1, "-inf"))
        entry = self.judged(lambda y: y.view(torch.int32)[0, 0].fill_(POISON), text, torch.log)
        self.assertEqual((entry["unwritten"], entry["worst"].get("error")), (1, None))

    def test_overflow_of_the_dtype_is_no_fault(self):
        text = task("return torch.exp(x)", "[torch.tensor([1., 100.])]")
        entry = self.judged(lambda y: None, text, torch.exp)
        self.assertEqual(entry["inf_mismatch"], 0)
        self.assertLess(entry["worst"]["error"], 1e-6)
        entry = self.judged(lambda y: y[1].fill_(1.0), text, torch.exp)
        self.assertEqual(entry["worst"]["index"], [1])
        self.assertFalse((entry["worst"]["error"] or float("inf")) < 1e6)


    def test_far_counts_large_relative_errors(self):
        text = task("return x + 1", "[torch.rand(70, 5000)]")   # more than one block
        entry = self.judged(lambda y: None, text, lambda x: x + 1)
        self.assertEqual((entry["far"], entry["eager"]["far"]), (0, 0))
        entry = self.judged(lambda y: y[::10].mul_(1.002), text, lambda x: x + 1)
        self.assertEqual((entry["far"], entry["eager"]["far"]), (0.1, 0))
        entry = self.judged(lambda y: y[::10].mul_(1.0005), text, lambda x: x + 1)
        self.assertEqual(entry["far"], 0)

    def test_far_beside_a_reference_of_zero(self):
        text = task("return F.relu(x)", "[torch.tensor([[3., 1e-6, -1., -2.], [0., 3., 4., 0.]])]")
        entry = self.judged(lambda y: None, text, torch.relu)
        self.assertEqual(entry["far"], 0)
        rms = (34 / 8) ** 0.5
        for spoil, far in ((9e-4 * rms, 0), (1.1e-3 * rms, 1 / 8), (float("nan"), 1 / 8),
                           (float("inf"), 1 / 8)):
            entry = self.judged(lambda y: y[0, 2].fill_(spoil), text, torch.relu)
            self.assertEqual(entry["far"], far, spoil)
        entry = self.judged(lambda y: y[0, 1].fill_(0), text, torch.relu)
        self.assertEqual(entry["far"], 1 / 8)           # 1e-6 lost is lost
        zeros = task("return x * 0", "[torch.rand(4)]")
        self.assertEqual(self.judged(lambda y: None, zeros, lambda x: x * 0)["far"], 0)
        self.assertEqual(self.judged(lambda y: y[1].fill_(1e-30), zeros, lambda x: x * 0)["far"],
                         1 / 4)

    def test_far_where_infinities_and_nans_belong(self):
        text = task("return torch.log(x)", "[torch.tensor([[-1., 0., 1., 2., 3.]])]")
        self.assertEqual(self.judged(lambda y: None, text, torch.log)["far"], 0)
        for at in range(5):
            entry = self.judged(lambda y: y[0, at].fill_(17), text, torch.log)
            self.assertEqual((entry["far"], entry["eager"]["far"]), (0.2, 0), at)
        loaded = self.load(text)
        loaded.inputs(1)
        self.assertEqual(loaded.compare()["outputs"][0]["far"], 0.8)    # the poison is a NaN

    def test_far_is_wider_for_short_dtypes(self):
        for dtype, spoil, far in (("float16", 1.04, 0), ("bfloat16", 1.08, 1), ("float16", 1.08, 1),
                                  ("float64", 1.0005, 0), ("float64", 1.002, 1)):
            text = task("return x + 1", "[torch.rand(4, 8, dtype=torch.%s)]" % dtype)
            entry = self.judged(lambda y: y.mul_(spoil), text, lambda x: x + 1)
            self.assertEqual(entry["far"], far, dtype)


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


class Slots(TaskCase):
    def test_each_slot_is_judged_by_itself(self):
        loaded = self.load(task("return x + 1, x.argmax(1)", "[torch.rand(6, 50)]"))
        self.assertEqual((loaded.reply["slots"], loaded.reply["outputs_stride"]), (8, 1536))
        self.assertGreaterEqual(loaded.reply["outputs_share"]["size"], 8 * 1536)
        loaded.inputs(1)
        for slot in range(3):
            loaded.output(0, slot).copy_(loaded.input() + 1)
            loaded.output(1, slot).copy_(loaded.input().argmax(1))
        loaded.output(0, 1)[2, 3] += 1
        loaded.output(1, 2)[4] += 1
        reply = loaded.compare(slots=4)
        worst = [slot[0]["worst"]["index"] for slot in reply["slots"]]
        self.assertEqual((worst[1], worst[3]), ([2, 3], [0, 0]))
        self.assertEqual([slot[1]["mismatches"] for slot in reply["slots"]], [0, 0, 1, 6])
        self.assertEqual([slot[0]["unwritten"] for slot in reply["slots"]], [0, 0, 0, 300])
        self.assertEqual(reply["outputs"], reply["slots"][0])
        self.assertEqual(len(loaded.compare()["slots"]), 1)

    def test_inputs_poison_every_slot(self):
        loaded = self.load(SOFTMAX)
        loaded.output(0, 7).zero_()
        loaded.inputs(1)
        self.assertEqual([s[0]["unwritten"] for s in loaded.compare(slots=8)["slots"]], [2048] * 8)

    def test_large_outputs_have_fewer_slots(self):
        for size, slots in ((3 << 20, 5), (9 << 20, 1)):
            loaded = self.load(task("return x.expand(n) * 1", "[torch.rand(1)]",
                                    head="n = %d" % size))
            self.assertEqual(loaded.reply["slots"], slots)

    def test_more_slots_than_there_are_is_an_error(self):
        loaded = self.load(SOFTMAX)
        loaded.inputs(1)
        for slots in (9, 0, 1.5):
            reply = loaded.compare(slots=slots)
            self.assertEqual((reply["ok"], reply["name"]), (False, "invalid"), slots)


class Changed(TaskCase):
    def test_what_was_written_to_is_named_and_put_right(self):
        loaded = self.load(task("return self.fc(x) + args[1]", "[torch.rand(4, 3), torch.rand(5)]",
                                setup="self.fc = nn.Linear(3, 5)"))
        loaded.inputs(1)
        self.assertEqual(loaded.compare()["changed"], [])
        seen = loaded.input(1).clone(), loaded.param("fc.bias").clone()
        loaded.input(1)[4] += 1
        loaded.param("fc.bias")[0] += 1
        self.assertEqual(loaded.compare()["changed"], ["inputs[2]", "params.fc.bias"])
        self.assertEqual(loaded.compare()["changed"], [])
        self.assertTrue(torch.equal(seen[0], loaded.input(1)))
        self.assertTrue(torch.equal(seen[1], loaded.param("fc.bias")))


class Peek(TaskCase):
    def test_what_peek_sees(self):
        loaded = self.load(task("return torch.log(x)", "[torch.tensor([-1., 0., 1., 2.]), 5, None]"))
        peek = lambda **k: self.host.call("peek", **k)
        self.assertIn("no inputs yet", peek(what="inputs", index=1)["message"])
        loaded.inputs(1)
        self.assertEqual(peek(what="inputs", index=1)["values"], [-1, 0, 1, 2])
        self.assertEqual(peek(what="inputs", index=1, offset=1, count=2)["values"], [0, 1])
        self.assertEqual(peek(what="inputs", index=2)["value"], 5)
        self.assertIs(peek(what="inputs", index=3)["none"], True)
        reply = peek(what="reference", index=1)
        self.assertEqual((reply["values"][:3], reply["dtype"]), ([None, "-inf", 0], "float64"))
        self.assertEqual(peek(what="eager", index=1)["dtype"], "float32")
        self.assertEqual(peek(what="outputs", index=1)["values"], [None] * 4)
        self.assertEqual(peek(what="outputs", index=2)["message"],
                         "peek: there are 1 outputs, no number 2")
        self.assertIn("not 'seeds'", peek(what="seeds", index=1)["message"])

    def test_a_picture_of_what_is_off_and_what_nothing_wrote(self):
        loaded = self.load(task("return 2 * x", "[torch.ones(4, 200)]"))
        loaded.inputs(1)
        picture = lambda **k: self.host.call("picture", **{"index": 1, "rows": 4, "columns": 10, **k})
        self.assertEqual(set(picture()["cells"]), {-1})                          # poison is no number
        loaded.output()[:] = 2
        self.assertEqual((set(picture()["cells"]), picture()["shape"]), ({0}, [4, 200]))
        loaded.output()[2, 45] = 5
        loaded.output()[3, 0] = float("inf")
        drawn = picture()
        self.assertEqual((drawn["rows"], drawn["columns"], drawn["cells"][20:40]), (4, 10, [0, 0, 1.5] + [0] * 7 + [-1] + [0] * 9))
        self.assertEqual(drawn["worst"], {"at": [3, 0], "got": "inf", "wanted": 2})
        loaded.output()[3, 0] = 2
        self.assertEqual(picture()["worst"], {"at": [2, 45], "got": 5, "wanted": 2})
        self.assertEqual(picture(index=2)["name"], "invalid")

    def test_a_picture_of_one_row_is_folded(self):
        loaded = self.load(task("return 2 * x", "[torch.ones(1000)]"))
        loaded.inputs(1)
        loaded.output()[:] = 2
        loaded.output()[260] = 1
        drawn = self.host.call("picture", index=1, rows=4, columns=10)
        self.assertEqual((drawn["rows"], drawn["columns"]), (4, 10))
        self.assertEqual([i for i, e in enumerate(drawn["cells"]) if e], [10])    # the first of the second 250
        self.assertEqual(drawn["worst"]["at"], [260])

    def test_baselines_need_a_gpu(self):
        self.load(SOFTMAX)
        reply = self.host.call("baselines", kinds=["eager"], samples=3, budget=1, seed=1)
        self.assertEqual((reply["ok"], reply["name"]), (False, "unsupported"))

    def test_after_unload_nothing_is_loaded(self):
        self.load(SOFTMAX)
        self.assertTrue(self.host.call("unload")["ok"])
        self.assertEqual(self.host.call("inputs", seed=1, poison=0)["name"], "invalid")


if __name__ == "__main__":
    unittest.main()
