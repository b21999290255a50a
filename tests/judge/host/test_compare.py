"""What is said about an output, or several, and about tensors that changed."""
import json
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "support"))

from hostcase import HAVE_TORCH, POISON, TaskCase, task

if HAVE_TORCH:
    import torch

SOFTMAX = task("return torch.softmax(x, dim=1)", "[torch.randn(rows, 64)]", head="rows = 32")


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


if __name__ == "__main__":
    unittest.main()
