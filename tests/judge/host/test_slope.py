"""An error that all elements of an output in 16 bits have."""
import math
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "support"))

from hostcase import HAVE_TORCH, TaskCase, task

if HAVE_TORCH:
    import torch
    from cawb_host.judge.compare import slope


def drawn(count, seed=7):
    return torch.randn(count, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def standard_errors(out, reference):
    found = slope.numbers(slope.of(out, reference))
    return {key: abs(found[key]) / max(found[key + "_noise"], 1e-300) for key in ("factor", "offset")}, found["magnitudes"]


@unittest.skipUnless(HAVE_TORCH, "needs PyTorch")
class Slope(unittest.TestCase):
    def test_a_factor_below_the_roundoff_shows_among_some_thousand(self):
        for dtype in (torch.float16, torch.bfloat16):
            with self.subTest(dtype):
                values = torch.tanh(drawn(5000))
                off, magnitudes = standard_errors((values * (1 + 0.3 * torch.finfo(dtype).eps)).to(dtype), values)
                self.assertGreater(off["factor"], 6)
                self.assertGreater(magnitudes, 32)

    def test_what_is_rounded_once_is_off_by_nothing_where_values_repeat(self):
        for dtype in (torch.float16, torch.bfloat16):
            for ref in (torch.tanh((drawn(5000) * 4).round() / 4), torch.full((5000,), 0.1, dtype=torch.float64)):
                self.assertEqual(slope.numbers(slope.of(ref.to(dtype), ref))["factor"], 0)

    def test_equal_errors_of_equal_values_are_one_chance(self):
        ref = torch.tanh(drawn(64)).repeat(400)
        noise = (drawn(64, 3).sign() * 1e-3).repeat(400)
        off, _ = standard_errors((ref * (1 + noise)).to(torch.float16), ref)
        self.assertLess(off["factor"], 6)

    def test_rows_that_share_an_error_are_one_chance_each(self):
        """As where 24 numbers that were rounded are added to each of 512 others."""
        rows = 4 * drawn(512).to(torch.bfloat16).to(torch.float64)
        for seed in range(8):
            columns = -3 - torch.rand(24, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
            off, _ = standard_errors(rows[:, None].to(torch.bfloat16) + columns.to(torch.bfloat16), rows[:, None] + columns)
            self.assertLess(off["factor"], 4)
            self.assertLess(off["offset"], 4)
        values = torch.tanh(drawn(8000)).reshape(500, 16)
        off, _ = standard_errors((values * (1 + 0.3 * torch.finfo(torch.bfloat16).eps)).to(torch.bfloat16), values)
        self.assertGreater(off["factor"], 6)

    def test_each_index_is_looked_at(self):
        for numel in (8192 * 1024, 3 * 5 * 7 * 1 << 17, 100):
            self.assertEqual(math.gcd(slope.step_of(numel), numel), 1)

    def test_nearly_equal_values_are_one_magnitude(self):
        _, magnitudes = standard_errors((0.1 + 1e-6 * drawn(225)).to(torch.float16), 0.1 + 1e-6 * drawn(225))
        self.assertLess(magnitudes, 2)

    def test_what_is_no_number_counts_as_nothing(self):
        ref = torch.cat((drawn(1000), torch.tensor([float("nan"), float("inf"), 7e4], dtype=torch.float64)))
        found = slope.numbers(slope.of(ref.to(torch.float16), ref))
        self.assertEqual((found["factor"], found["offset"]), (0, 0))


class Shared(TaskCase):
    """What all elements share and a forward rounds: a kernel may round it otherwise than eager PyTorch."""

    def slopes(self, forward, kernel, inputs="[torch.randn(3000).bfloat16(), torch.rand(11).bfloat16()]"):
        loaded = self.load(task("return " + forward, inputs))
        for seed in range(1, 13):
            loaded.inputs(seed)
            loaded.output().copy_(kernel(*(loaded.input(i).double() for i in range(2))))
            reply = loaded.compare()
            self.assertTrue(reply["ok"], reply)
            yield reply["outputs"][0]["slope"]

    def test_a_rounding_of_few_results_that_all_share(self):
        doubts = 0                           # the kernel rounds a sum, eager PyTorch a mean
        for s in self.slopes("torch.tanh(x) * args[1].mean()", lambda x, w: torch.tanh(x) * w.sum().bfloat16() / 11):
            own = max(4e-4, 3 * abs(s["eager"]["factor"]), 6 * s["factor_noise"])
            doubts += abs(s["factor"]) > own
            self.assertLess(abs(s["factor"]), max(own, 3 * s.get("factor_rounded", 0)))
        self.assertGreater(doubts, 0)

    def test_roundings_beside_a_number_that_all_share(self):
        doubts = 0                           # the kernel rounds the difference alone, and eager PyTorch both sums, too

        def kernel(x, y):
            v = (y - 0.5 * x).half().double()
            v = torch.cat((v, 2 * v))
            return v + (v + y)

        inputs = "[torch.randn(929).half(), torch.randn(1).half()]"
        for s in self.slopes("(lambda v: v + (v + args[1]))((lambda d: torch.cat((d, d * 2)))(args[1] - 0.5 * x))", kernel, inputs):
            own = max(4.9e-5, 3 * abs(s["eager"]["factor"]), 6 * s["factor_noise"])
            doubts += abs(s["factor"]) > own
            self.assertLess(abs(s["factor"]), max(own, 3 * s.get("factor_rounded", 0)))
        self.assertGreater(doubts, 0)

    def test_a_factor_that_no_rounding_makes(self):
        off = 1 + 0.3 * torch.finfo(torch.bfloat16).eps
        for s in self.slopes("torch.tanh(x)", lambda x, w: torch.tanh(x) * off):
            self.assertGreater(abs(s["factor"]), 10 * s["factor_rounded"])
        whole = "[torch.randint(-60, 60, (3000,)).bfloat16(), torch.randint(1, 2, (4,)).bfloat16()]"
        for s in self.slopes("x * args[1].sum()", lambda x, w: x * w.sum() * 1.01, whole):
            self.assertEqual(s["factor_rounded"], 0)

    def test_what_a_forward_holds_in_float32_no_kernel_needs_to_round(self):
        forward = "(torch.tanh(x.float()) * args[1].float().mean()).bfloat16()"
        for s in self.slopes(forward, lambda x, w: torch.tanh(x) * w.mean() * 1.003):
            self.assertNotIn("factor_rounded", s)


if __name__ == "__main__":
    unittest.main()
