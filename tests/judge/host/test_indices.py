"""Outputs that are indices: which others are as right as the reference's."""
import unittest
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "support"))

from hostcase import HAVE_TORCH, POISON, TaskCase, task

if HAVE_TORCH:
    import torch

ROWS = "[torch.tensor([[1., 5., 5., 2.], [3., 3., 1., 0.], [0., 1., 2., 9.]]) + torch.rand(1)]"


class Indices(TaskCase):
    def entry(self, text, write, output=0, case=None):
        """What is said of an index output after write(inputs, outputs) has filled it."""
        loaded = self.load(text)
        self.assertTrue(self.host.call("inputs", seed=5, poison=POISON, case=case)["ok"])
        outs = [loaded.output(i) for i in range(len(loaded.reply["outputs"]))]
        write(loaded.input(), outs)
        self.reply = loaded.compare()
        self.assertTrue(self.reply["ok"], self.reply)
        return self.reply["outputs"][output]

    def test_of_equal_values_the_first(self):
        for forward, dim, wrong in (("torch.argmax(x, 1)", 1, [2, 0, 3]),
                                    ("torch.max(x, 1, keepdim=True)[1]", 1, [[2], [0], [3]]),
                                    ("torch.argmax(x, 1).int()", 1, [2, 0, 3])):
            text = task("return " + forward, ROWS)
            entry = self.entry(text, lambda x, y, w=wrong: y[0].copy_(torch.tensor(w)))
            self.assertEqual(entry["mismatches"], 1, forward)
            index = entry["index"]
            self.assertEqual((index["gap"], index["later"], index["exact"], index["ties"]),
                             (0, 1, True, "first"))

    def test_another_value_is_told_by_its_distance(self):
        text = task("return torch.argmin(x, 1)", ROWS)
        entry = self.entry(text, lambda x, y: y[0].copy_(torch.tensor([3, 3, 0])))
        index = entry["index"]
        self.assertEqual((entry["mismatches"], index["op"], index["later"]), (1, "argmin", 0))
        self.assertTrue(0.15 < index["gap"] < 0.21, index)      # 1 of 5 to 6
        self.assertEqual(entry["first"]["index"], [0])

    def test_a_flat_argmax(self):
        text = task("return torch.argmax(x)", ROWS)
        entry = self.entry(text, lambda x, y: y[0].fill_(11))
        self.assertEqual((entry["mismatches"], "index" in entry), (0, True))
        entry = self.entry(text, lambda x, y: y[0].fill_(1))
        self.assertGreater(entry["index"]["gap"], 0.3)

    def test_what_lies_outside_or_comes_twice(self):
        text = task("return torch.topk(x, 2, dim=1)", "[torch.rand(3, 8)]")

        def right(x, y):
            for out, value in zip(y, torch.topk(x, 2, 1)):
                out.copy_(value)
        entry = self.entry(text, right, 1)
        self.assertEqual(entry["mismatches"], 0)

        def outside(x, y):
            right(x, y)
            y[1][0, 0], y[1][1, 0] = -1, 8
        self.assertEqual(self.entry(text, outside, 1)["index"]["outside"], 2)

        def twice(x, y):
            right(x, y)
            y[1][2] = y[1][2, 0]
        self.assertEqual(self.entry(text, twice, 1)["index"]["repeated"], 1)

    def test_ties_of_topk_and_sort_are_free_and_a_stable_sort_s_are_not(self):
        tied = "[torch.randint(0, 3, (4, 20)).float()]"
        for forward, ties in (("torch.topk(x, 5, dim=1)", "any"), ("torch.sort(x, 1)", "any"),
                              ("torch.sort(x, dim=1, stable=True)", "order")):
            text = task("return %s[1]" % forward, tied)

            def other(x, y):
                order = torch.sort(x, 1, "topk" in forward).indices
                last = x.flip(1).sort(dim=1, stable=True, descending="topk" in forward).indices
                y[0].copy_((19 - last)[:, :order.shape[1] if "sort" in forward else 5])
            index = self.entry(text, other)["index"]
            self.assertEqual((index["gap"], index["repeated"], index["ties"]), (0, 0, ties), forward)
            self.assertEqual(index["later"] > 0, ties == "order")

    def test_topk_in_any_order_is_a_set(self):
        text = task("return torch.topk(x, 5, dim=0, sorted=False)[1]", "[torch.rand(20, 4)]")
        entry = self.entry(text, lambda x, y: y[0].copy_(torch.topk(x, 5, 0).indices.flip(0)))
        self.assertGreater(entry["mismatches"], 0)
        self.assertEqual((entry["index"]["gap"], entry["index"]["repeated"]), (0, 0))

    def test_scores_that_were_computed_have_an_error(self):
        text = task("return torch.argmax(self.fc(x), 1)", "[torch.randn(50, 300)]",
                    setup="self.fc = nn.Linear(300, 40)")
        entry = self.entry(text, lambda x, y: y[0].zero_())
        index = entry["index"]
        self.assertFalse(index["exact"])
        self.assertTrue(1e-9 < index["eager"] < 1e-5, index)
        self.assertGreater(index["gap"], 0.5)

    def test_nan_and_infinite_scores(self):
        inputs = "[torch.tensor([[1., float('nan'), 2.], [float('inf'), 1., float('-inf')]]) * torch.rand(1)]"
        text = task("return torch.argmax(x, 1)", inputs)
        entry = self.entry(text, lambda x, y: y[0].copy_(torch.tensor([1, 0])))
        self.assertEqual(entry["mismatches"], 0)
        entry = self.entry(text, lambda x, y: y[0].copy_(torch.tensor([2, 0])))
        self.assertEqual(entry["index"]["gap"], "inf")

    def test_other_whole_numbers_have_no_scores(self):
        for forward in ("(x > 0.5)", "x.mul(10).long()", "torch.argmax(x, 1) + 1"):
            entry = self.entry(task("return " + forward, "[torch.rand(5, 9)]"),
                               lambda x, y: y[0].fill_(7 if y[0].dtype != torch.bool else 1))
            self.assertNotIn("index", entry, forward)

    def test_values_are_no_indices(self):
        loaded = self.load(task("return torch.max(x, 1)", "[torch.rand(5, 9)]"))
        self.assertEqual([o.get("index") for o in loaded.reply["outputs"]], [None, "max"])

    def test_indices_that_lie_otherwise(self):
        text = task("return torch.topk(x, 3, dim=1)[1].t()", "[torch.rand(5, 9)]")
        entry = self.entry(text, lambda x, y: y[0].copy_(torch.topk(x, 3, 1).indices.t()))
        self.assertEqual(entry["mismatches"], 0)
        self.assertNotIn("index", entry)        # a dimension of choice that was moved is not followed

    def test_the_kind_with_ties_has_them(self):
        text = task("return torch.argmax(x, 1)", "[torch.randn(30, 40)]")
        entry = self.entry(text, lambda x, y: y[0].copy_(39 - x.flip(1).argmax(1)), case="ties")
        self.assertGreater(entry["index"]["later"], 3)
        self.assertEqual(entry["index"]["gap"], 0)


if __name__ == "__main__":
    unittest.main()
