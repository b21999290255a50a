"""Inputs that a task never announced, and mutants of its reference."""
import sys
import unittest

from hostcase import HAVE_TORCH, POISON, CORE, Loaded, TaskCase

sys.path.insert(0, CORE)
if HAVE_TORCH:
    import torch
    from host.judge import battery

TASK = """
    import torch
    class Model(torch.nn.Module):
        def forward(self, x, i):
            return torch.matmul(x, x.t()), i + 1
    def get_inputs():
        return [torch.rand(6, 40), torch.arange(5)]
    def get_init_inputs():
        return []
"""


@unittest.skipUnless(HAVE_TORCH, "needs PyTorch")
class Battery(unittest.TestCase):
    def make(self, case, like):
        torch.manual_seed(3)
        return battery.apply(case, [like])[0]

    def test_every_case_keeps_shape_strides_and_type(self):
        for dtype in (torch.float32, torch.float16, torch.bfloat16, torch.float64):
            for like in (torch.zeros(3, 5, dtype=dtype), torch.zeros(5, 3, dtype=dtype).t(),
                         torch.zeros((), dtype=dtype), torch.zeros(0, 4, dtype=dtype),
                         torch.zeros(4, 1, dtype=dtype).expand(4, 6)):
                for case in battery.CASES:
                    made = self.make(case, like)
                    self.assertEqual((made.shape, made.stride(), made.dtype),
                                     (like.shape, like.stride(), like.dtype), case)

    def test_the_seed_decides_and_whole_numbers_stay(self):
        like, index = torch.zeros(4, 50), torch.arange(4)
        self.assertTrue(torch.equal(self.make("mixed", like), self.make("mixed", like)))
        self.assertIs(self.make("mixed", index), index)
        self.assertIs(self.make(None, like), like)

    def test_large_ones_are_made_in_pieces(self):
        was = battery.PIECE
        battery.PIECE = 100
        try:
            for case in battery.CASES:
                made = self.make(case, torch.full((50, 30), 7.0))
                self.assertFalse(bool((made == 7).any()), case)
            mixed = self.make("mixed", torch.zeros(50, 30))
            self.assertGreater(float(mixed.std(1).max() / mixed.std(1).min()), 3)
        finally:
            battery.PIECE = was

    def test_what_each_case_is(self):
        like = torch.zeros(20, 300)
        mixed = self.make("mixed", like)
        self.assertTrue((mixed > 0).any(1).all() and (mixed < 0).any(1).all())
        scales = mixed.std(1)
        self.assertGreater(float(scales.max() / scales.min()), 3)
        for _ in range(20):                     # of two rows one is small
            few = self.make("mixed", torch.zeros(2, 4000)).std(1)
            self.assertTrue(float(few.min()) < 1.1 < 1.2 * float(few.max()), few)
        whole = self.make("integers", like)
        self.assertTrue(torch.equal(whole, whole.round()) and float(whole.abs().max()) == 4)
        self.assertEqual(int((self.make("outlier", like) != 0).sum()), 1)
        self.assertEqual(int(self.make("zeros", like).count_nonzero()), 0)
        self.assertGreater(float(self.make("offset", like).min()), 900)
        edges = self.make("edges", like)
        self.assertGreater(float(edges[:, -1].mean()), 5)
        self.assertLess(float(edges[:-1, :-1].mean()), 1)
        tiny = self.make("tiny", like)
        self.assertTrue(0 < float(tiny.abs().max()) < 1.2e-38)
        nan = self.make("nan", like)
        self.assertTrue(1 <= int(nan.isnan().sum()) <= 3 and not nan.isinf().any())
        odd = self.make("nonfinite", like)
        self.assertTrue(odd.isnan().any() and odd.isinf().any())


class Cases(TaskCase):
    def test_a_case_is_compared_like_the_task_s_own_inputs(self):
        loaded = Loaded(self.host, self.write(TASK))
        self.assertTrue(loaded.reply["ok"], loaded.reply)
        for case in (None, "mixed", "integers"):
            reply = self.host.call("inputs", seed=5, poison=POISON, case=case)
            self.assertTrue(reply["ok"], reply)
            first = self.host.call("peek", what="inputs", index=1, count=100)["values"]
            if case:
                self.assertLess(min(first), 0)
            index = self.host.call("peek", what="inputs", index=2)["values"]
            self.assertEqual(index, [0, 1, 2, 3, 4])
            entry = self.host.call("compare", poison=POISON)["outputs"][0]
            self.assertEqual(entry["unwritten"], 36)
            self.assertEqual(entry["odd"], 0)
            self.assertEqual(entry["eager"]["worst"] == 0, case == "integers")

    def test_a_case_that_does_not_exist(self):
        Loaded(self.host, self.write(TASK))
        reply = self.host.call("inputs", seed=5, poison=POISON, case="mixd")
        self.assertEqual((reply["ok"], reply["name"]), (False, "invalid"))
        self.assertIn("no case 'mixd'", reply["message"])

    def test_mutants_are_judged_and_leave_the_task_as_it_was(self):
        loaded = Loaded(self.host, self.write(TASK))
        self.assertEqual(loaded.reply["density"]["inputs"], [1.0, 0.8])
        reply = self.host.call("mutants", seed=7)
        self.assertTrue(reply["ok"], reply)
        self.assertIn("identity", reply["left_out"])
        eager = reply["mutants"]["eager"][0]
        for name in ("zeros", "mean", "tf32", "bf16", "drop_last", "skip_row", "constant"):
            entry = reply["mutants"][name][0]
            self.assertGreater(entry["nrms"], 100 * eager["nrms"], name)
        self.assertGreater(reply["mutants"]["bf16"][0]["nrms"],
                           3 * reply["mutants"]["tf32"][0]["nrms"])
        again = self.host.call("mutants", seed=7)
        self.assertEqual(again["mutants"]["eager"], reply["mutants"]["eager"])

    def test_close_is_the_least_tolerance_at_which_allclose_holds(self):
        Loaded(self.host, self.write(TASK))
        reply = self.host.call("mutants", seed=9, case="mixed")
        entry = reply["mutants"]["zeros"][0]
        self.assertTrue(0.5 < entry["close"] < 1, entry)       # |y| / (1 + |y|)


if __name__ == "__main__":
    unittest.main()
