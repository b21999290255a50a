"""The library's statistics of outputs are as native.h has them, and beside the terms as PyTorch has them."""
import math
import os
import sys
import unittest
from unittest import mock

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "support"))

from hostcase import PACKAGES, HAVE_TORCH, NATIVE

if HAVE_TORCH:
    import torch
    from cawb_host.judge.compare import native
    from cawb_host.judge.compare.reference import FAR, Expected
    from cawb_host.judge.compare.terms import Terms
    from cawb_host.base.fault import Fault


def matrix(shape, dtype, seed):
    """A reference of both signs and many magnitudes with zeros, and an output that is off here and there."""
    made = torch.Generator().manual_seed(seed)
    ref = torch.randn(shape, generator=made, dtype=torch.float64) * torch.randn(shape, generator=made, dtype=torch.float64).mul(8).exp()
    if dtype == torch.float16:
        ref = ref.clamp(-1e4, 1e4)
    ref[torch.rand(shape, generator=made) < 0.1] = 0.0
    off = 1 + 1e-6 * torch.randn(shape, generator=made, dtype=torch.float64)
    off[torch.rand(shape, generator=made) < 0.05] = 1.01
    return ref, (ref * off + 1e-9).to(dtype)


def rms(x):
    return x.square().mean(-1).sqrt()


def formulas(ref, out, far):
    """What native.h says of an output, element by element."""
    cols = next((n for n in reversed(ref.shape) if n > 1), 1)
    ref, out = ref.reshape(-1, cols), out.reshape(-1, cols).to(torch.float64)
    both = ~torch.isfinite(ref) & ((out == ref) | out.isnan() & ref.isnan())        # right, and without an error
    finite = torch.where(torch.isfinite(ref), ref, 0.0)
    whole = math.sqrt(float(finite.square().sum()) / max(1, int(torch.isfinite(ref).sum())))
    d = torch.where(both, 0.0, out - ref)
    if not bool(torch.isfinite(d).all()):
        return {"nrms": None, "bias": None, "worst": None, "row": None, "close": None}
    rows = (finite.square().sum(1) / torch.isfinite(ref).sum(1).clamp(min=1)).sqrt()
    row = rms(d) / torch.where(rows > 0, rows, whole or 1.0)
    size = torch.where(ref == 0, whole or 2.0 ** -1022, ref.abs())
    return {"scale": float(finite.abs().max()), "rms": whole, "nrms": math.sqrt(float(d.square().mean())) / (whole or 1.0),
            "bias": float(d.mean()) / (whole or 1.0), "worst": float(d.abs().max()), "row": float(row.max()),
            "far": int((~both & ~(d.abs() <= far * size)).sum()) / ref.numel(),
            "close": float((d.abs() / (1 + finite.abs())).max())}


@unittest.skipUnless(HAVE_TORCH and os.path.exists(NATIVE), "no PyTorch, or no library")
class Native(unittest.TestCase):
    def setUp(self):
        native.open_library(NATIVE)
        self.addCleanup(native.open_library, None)

    def same(self, one, other, label=""):
        """Equal but for the rounding of sums."""
        if isinstance(one, dict):
            self.assertEqual(one.keys(), other.keys(), label)
            for key in one:
                self.same(one[key], other[key], label + " " + key)
        elif isinstance(one, (list, tuple)):
            self.assertEqual(len(one), len(other), label)
            for i, (a, b) in enumerate(zip(one, other)):
                self.same(a, b, "%s %d" % (label, i))
        elif isinstance(one, float) and isinstance(other, float):
            self.assertTrue(math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-300), "%s: %r, %r" % (label, one, other))
        else:
            self.assertEqual(one, other, label)

    def check(self, ref, out, label=""):
        """The entry of an output, which is as the formulas have it; and beside its terms the library's numbers are PyTorch's."""
        e, terms = Expected(ref, ref.to(out.dtype)), Terms.__new__(Terms)
        entry, wanted = e.compare(out, 0x7ff97ff9), formulas(ref, out, FAR[out.dtype])
        found = {key: entry[key] for key in wanted if key in entry}
        found["worst"], found["row"] = entry["worst"]["error"], entry["worst_row"] and entry["worst_row"]["nrms"]
        self.same(wanted, found, label)
        terms.expected, terms.sizes = [e], {0: (ref.abs().nan_to_num(posinf=1.0).reshape(e.rows, e.cols) * 1.5 + 1e-3)}
        terms.fetched = {}
        here = terms.look(0, out)
        with mock.patch.object(native, "fetches", lambda tensor: False):
            self.same(terms.look(0, out), here, label)
        return entry

    def test_all_that_is_said_of_an_output(self):
        for shape in ((64, 300), (1, 5000), (700, 1), (3, 4, 5), (1,)):
            for dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16):
                ref, out = matrix(shape, dtype, 5)
                entry = self.check(ref, out, "%s of %s:" % (dtype, shape))
                self.assertGreater(entry["worst"]["error"], 0)

    def test_what_is_no_number(self):
        for place, value in ((7, math.nan), (8, math.inf), (9, -math.inf)):
            for dtype in (torch.float32, torch.float16):
                ref, out = matrix((20, 30), dtype, 6)
                out.view(-1)[place] = value
                self.assertIsNone(self.check(ref, out)["worst"]["error"])
                ref.view(-1)[place] = value             # on both sides it is right
                self.assertIsNotNone(self.check(ref, out)["worst"]["error"])

    def test_what_is_no_number_in_a_long_output(self):
        ref = torch.randn(3, (1 << 18) + 5, generator=torch.Generator().manual_seed(9), dtype=torch.float64)
        out = ref.float()
        ref[1, 5], out[1, 5] = math.inf, math.inf
        out[2, 1 << 18] += 9
        self.assertEqual(self.check(ref, out)["worst"]["index"], [2, 1 << 18])

    def test_an_output_of_zeros_and_tiny_numbers(self):
        ref, out = matrix((20, 30), torch.float64, 7)
        for scale in (0.0, 1e-310, 1e-200, 1e100):
            self.check(ref * scale, out * scale)

    def test_of_equal_errors_the_first_is_shown(self):
        entry = self.check(torch.zeros(10, 10, dtype=torch.float64), torch.ones(10, 10))
        self.assertEqual(entry["worst"]["index"], [0, 0])

    def test_it_takes_tensors_with_gaps(self):
        ref, out = matrix((20, 30), torch.float32, 8)
        e = Expected(ref.t(), ref.t().float())
        self.assertEqual(e.compare(out.t(), 0x7ff97ff9), Expected(ref.t().contiguous(), ref.t().float()).compare(out.t().contiguous(), 0x7ff97ff9))

    def test_without_a_library_it_says_what_to_do(self):
        native.open_library(None)
        with self.assertRaisesRegex(Fault, "no library of statistics: .*bootstrap builds it"):
            Expected(torch.zeros(2, 2, dtype=torch.float64), torch.zeros(2, 2))

    def test_a_library_that_is_none_is_named(self):
        with self.assertRaisesRegex(Fault, "cannot load .*test_native.py .*bootstrap builds it"):
            native.open_library(os.path.join(os.path.dirname(__file__), "test_native.py"))


if __name__ == "__main__":
    unittest.main()
