"""torch._scaled_mm where a task host runs it: on a CPU with scales of rows, as an H100 adds it up, and in float64."""
import math
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "python"))
try:
    import torch
    from cawb_host.judge.task.wide import Wide
    EIGHT = torch.float8_e4m3fn
except (ImportError, AttributeError):
    torch = None


def product(a, b, scale_a=None, scale_b=None, **more):
    one = torch.tensor(1.0)
    return torch._scaled_mm(a.to(EIGHT), b.to(EIGHT).t(), one if scale_a is None else scale_a,
                            one if scale_b is None else scale_b, out_dtype=torch.float32, **more)


@unittest.skipIf(torch is None, "PyTorch with float8 is not installed")
class Scaled(unittest.TestCase):
    def test_scales_and_bias(self):
        a, b = torch.randint(-4, 5, (5, 48)).float(), torch.randint(-4, 5, (7, 48)).float()
        rows, columns, bias = torch.rand(5, 1), torch.rand(1, 7), torch.randn(7)
        torch.testing.assert_close(product(a, b, rows, columns, bias=bias), (a @ b.t()) * rows * columns + bias)

    def test_terms_are_cut_off_below_the_largest(self):
        a, b = torch.zeros(1, 32), torch.ones(1, 32)
        a[0, 0], a[0, 1] = 256.0, 2.0 ** -5              # 2^-13 of the largest: it counts
        self.assertEqual(float(product(a, b)), 256.0 + 2.0 ** -5)
        a[0, 1] = 2.0 ** -6
        self.assertEqual(float(product(a, b)), 256.0)

    def test_sums_go_on_in_float32(self):
        a, b = torch.zeros(1, 256), torch.ones(1, 256)
        a[0, 0], a[0, 128:] = 256.0, 2.0 ** -9
        self.assertEqual(float(product(a, b)), 256.25)
        self.assertEqual(float(product(a, b, use_fast_accum=True)), 256.0)

    def test_what_is_no_number(self):
        a, b = torch.ones(2, 32), torch.ones(3, 32)
        a[1, 5] = math.nan
        found = product(a, b)
        self.assertEqual(found[0].tolist(), [32.0] * 3)
        self.assertTrue(found[1].isnan().all())

    def test_in_float64(self):
        a, b = torch.randn(4, 32).to(EIGHT), torch.randn(3, 32).to(EIGHT)
        with Wide():
            wide = torch._scaled_mm(a.double(), b.double().t(), torch.tensor(0.3).double(), torch.tensor(0.7).double(), out_dtype=torch.bfloat16)
        torch.testing.assert_close(wide, a.double() @ b.double().t() * (torch.tensor(0.3).double() * torch.tensor(0.7).double()))


if __name__ == "__main__":
    unittest.main()
