"""Inputs from seeds, and poisoned outputs."""
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "support"))

from hostcase import HAVE_TORCH, TaskCase, task

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


if __name__ == "__main__":
    unittest.main()
