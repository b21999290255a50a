"""Relations between outputs for related inputs: which tasks have them, what breaks them."""
import unittest
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "support"))

from hostcase import HAVE_TORCH, POISON, TaskCase, task

if HAVE_TORCH:
    import torch

X = "[torch.randn(6, 20)]"


class Relations(TaskCase):
    def found(self, forward, inputs=X, setup="pass"):
        """(inputs that it is linear in, inputs whose rows are independent), None where not."""
        reply = self.load(task("return " + forward, inputs, setup=setup)).reply
        self.about = reply["relations"]
        return tuple(self.about["found"].get(name) for name in ("linear", "rows"))

    def test_operators_decide(self):
        two = "[torch.randn(6, 20), torch.randn(20, 5)]"
        alike = "[torch.randn(6, 20), torch.randn(6, 20)]"
        for forward, inputs, want in (
                ("x * 2 + 1", X, ([1], [1])),
                ("F.relu(x)", X, (None, [1])),
                ("F.hardswish(F.leaky_relu(x))", X, (None, [1])),
                ("torch.softmax(x, 1)", X, (None, [1])),
                ("torch.softmax(x, 0)", X, (None, None)),
                ("x.cumsum(1)", X, ([1], [1])),
                ("x.cumsum(0)", X, ([1], None)),
                ("x.sum(0)", X, ([1], None)),
                ("x.mean(1)", X, ([1], [1])),
                ("x @ args[1]", two, ([1], [1])),
                ("(args[1].t() @ x.t())", two, ([1], [1])),
                ("x @ x.t()", X, (None, None)),
                ("x * args[1]", alike, ([1], [1, 2])),
                ("x + 3 * args[1]", alike, ([1, 2], [1, 2])),
                ("x + args[1].sum(0)", alike, ([1, 2], [1])),
                ("x / args[1]", alike, ([1], [1, 2])),
                ("x + torch.arange(6.).unsqueeze(1)", X, ([1], None)),
                ("x + torch.arange(20.)", X, ([1], [1])),
                ("x.flip(0)", X, ([1], None)),
                ("x[:3]", X, ([1], None)),
                ("x[:, :3]", X, ([1], [1])),
                ("x.reshape(6, 4, 5).transpose(1, 2)", X, ([1], [1])),
                ("x.reshape(2, 60)", X, ([1], None)),
                ("torch.tril(x)", X, ([1], None)),
                ("x.pow(2)", X, (None, [1])),
                ("torch.cat([x, args[1]], 1)", alike, ([1, 2], [1, 2])),
                ("torch.argmax(x, 1)", X, (None, None)),
                ("x.sort(1)[0]", X, (None, [1]))):
            with self.subTest(forward):
                self.assertEqual(self.found(forward, inputs), want, self.about)

    def test_layers(self):
        for setup, forward, inputs, want in (
                ("self.f = nn.Linear(20, 4)", "self.f(x)", X, ([1], [1])),
                ("self.f = nn.Linear(5, 4)", "self.f(x.view(6, 4, 5))", X, ([1], [1])),
                ("self.f = nn.LayerNorm(20)", "self.f(x)", X, (None, [1])),
                ("self.f = nn.BatchNorm1d(20)", "self.f(x)", X, (None, None)),
                ("self.f = nn.Conv2d(2, 3, 3)", "self.f(x)", "[torch.randn(3, 2, 8, 8)]", ([1], [1])),
                ("self.f = nn.MaxPool2d(2)", "self.f(x)", "[torch.randn(3, 2, 8, 8)]", (None, [1])),
                ("self.f = nn.GroupNorm(2, 4)", "self.f(x)", "[torch.randn(3, 4, 8)]", (None, [1])),
                ("pass", "F.scaled_dot_product_attention(x, args[1], args[1])",
                 "[torch.randn(3, 2, 8, 4), torch.randn(3, 2, 8, 4)]", (None, [1, 2])),
                ("pass", "torch.matmul(x, args[1])",
                 "[torch.randn(3, 2, 8, 4), torch.randn(3, 2, 4, 8)]", ([1], [1, 2]))):
            with self.subTest(setup + forward):
                self.assertEqual(self.found(forward, inputs, setup), want, self.about)

    def play(self, loaded, name, right, seed=9):
        """All stages with what `right` makes of the inputs and the stage; the last entry."""
        self.about = self.host.call("relation", name=name, seed=4)
        self.assertTrue(self.about["holds"], self.about)
        for stage in range(1, self.about["stages"] + 1):
            reply = self.host.call("inputs", seed=seed, poison=POISON, case="%s:%d" % (name, stage))
            self.assertTrue(reply["ok"], reply)
            loaded.output().copy_(right(loaded.input(), stage))
            reply = loaded.compare()
            self.assertTrue(reply["ok"], reply)
            self.assertEqual(reply["reference"], "relation")
        return reply["outputs"][0]

    def test_a_right_output_keeps_them_and_wrong_ones_do_not(self):
        loaded = self.load(task("return x @ args[1] + 3", "[torch.randn(6, 20), torch.randn(20, 5)]"))
        for name in ("linear", "rows"):
            def right(x, _):
                return x @ loaded.input(1) + 3
            self.assertLess(self.play(loaded, name, right)["nrms"], 1e-6)
            self.assertLess(self.about["eager"][0]["nrms"], 1e-6)

            def clipped(x, _):
                return right(x.clamp(-3, 3), 0)
            wrong = {"linear": (lambda x, stage: right(x, 0) ** 2, clipped,
                                lambda x, stage: right(x, 0) * (1 if stage > 1 else 1.001),
                                lambda x, stage: right(x.bfloat16().float() + x.sign() / 64, 0)
                                if stage == 3 else right(x, 0)),
                     "rows": (lambda x, stage: right(x, 0) * torch.arange(1., 7).unsqueeze(1),
                              lambda x, stage: right(x.roll(1, 0), 0))}[name]
            for make in wrong:
                self.assertGreater(self.play(loaded, name, make)["nrms"], 1e-4)

    def test_inputs_that_lie_otherwise_keep_their_strides(self):
        text = task("return x @ args[1]", "[torch.randn(20, 6).t(), torch.randn(20, 10)[:, ::2]]")
        for name in ("linear", "rows"):
            loaded = self.load(text)
            entry = self.play(loaded, name, lambda x, _: x @ loaded.input(1))
            self.assertEqual(loaded.input().stride(), (1, 6))
            self.assertLess(entry["nrms"], 1e-6)

    def test_joined_rows_are_told_apart(self):
        loaded = self.load(task("return x.view(12, 10) * 2", X))
        entry = self.play(loaded, "rows", lambda x, _: x.reshape(12, 10) * 2)
        self.assertEqual(entry["nrms"], 0)
        entry = self.play(loaded, "rows", lambda x, _: x.reshape(12, 10).roll(1, 0) * 2)
        self.assertGreater(entry["nrms"], 0.1)

    def test_inputs_of_16_bits_are_not_rounded(self):
        for kind in ("bfloat16", "half"):
            loaded = self.load(task("return x.float() * 2", "[torch.randn(60, 20).%s()]" % kind))
            entry = self.play(loaded, "linear", lambda x, _: x.float() * 2)
            self.assertEqual(entry["worst"]["error"], 0)

    def test_what_was_not_written_or_comes_out_of_turn(self):
        loaded = self.load(task("return x * 2", X))
        entry = self.play(loaded, "linear", lambda x, stage: x * 2 if stage < 3 else x * float("nan"))
        self.assertEqual(entry["nan"], 120)
        self.host.call("inputs", seed=9, poison=POISON, case="linear:3")
        reply = loaded.compare()
        self.assertEqual((reply["ok"], reply["name"]), (False, "invalid"))
        self.assertIn("the earlier stages of 'linear' come first", reply["message"])
        reply = self.host.call("inputs", seed=9, poison=POISON, case="linear:4")
        self.assertEqual((reply["ok"], reply["name"]), (False, "invalid"))

    def test_a_task_without_says_why(self):
        self.load(task("return torch.softmax(x, 0)", X))
        for name, words in (("linear", "aten._softmax.default is not linear"),
                            ("rows", "aten._softmax.default mixes rows"), ("squares", "no such")):
            reply = self.host.call("relation", name=name, seed=4)
            self.assertFalse(reply["holds"])
            self.assertIn(words, reply["why"])

    def test_changed_inputs_are_seen_in_every_stage(self):
        loaded = self.load(task("return x * 2", X))
        for stage in (1, 2, 3):
            self.host.call("inputs", seed=9, poison=POISON, case="linear:%d" % stage)
            loaded.output().copy_(loaded.input() * 2)
            loaded.input()[0, 0] += 1
            self.assertEqual(loaded.compare()["changed"], ["inputs[1]"])


if __name__ == "__main__":
    unittest.main()
