"""The library's statistics of outputs are those of PyTorch's words."""
import math
import os
import sys
import unittest
from unittest import mock

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "support"))

from hostcase import PACKAGES, HAVE_TORCH

LIBRARY = os.environ.get("CAWB_NATIVE_LIBRARY")
if HAVE_TORCH:
    import torch
    from cawb_host.judge.compare import native
    from cawb_host.judge.compare.reference import Expected
    from cawb_host.judge.compare.terms import Terms
    from cawb_host.base.fault import Fault


def matrix(shape, dtype, seed):
    """A reference of both signs and many magnitudes with zeros, and an output that is off here and there."""
    made = torch.Generator().manual_seed(seed)
    ref = torch.randn(shape, generator=made, dtype=torch.float64) * torch.randn(shape, generator=made, dtype=torch.float64).mul(8).exp()
    ref[torch.rand(shape, generator=made) < 0.1] = 0.0
    off = 1 + 1e-6 * torch.randn(shape, generator=made, dtype=torch.float64)
    off[torch.rand(shape, generator=made) < 0.05] = 1.01
    return ref, (ref * off + 1e-9).to(dtype)


@unittest.skipUnless(HAVE_TORCH and LIBRARY, "no PyTorch, or no library of this build")
class Native(unittest.TestCase):
    def tearDown(self):
        native.open_library(None)

    def both(self, make):
        """What it makes without the library, and with it."""
        native.open_library(None)
        without = make()
        native.open_library(LIBRARY)
        return without, make()

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

    def entries(self, ref, out):
        """What is said of an output, and of it beside its terms."""
        e, terms = Expected(ref, ref.to(out.dtype)), Terms.__new__(Terms)
        terms.expected, terms.sizes = [e], {0: (ref.abs().nan_to_num(posinf=1.0).reshape(e.rows, e.cols) * 1.5 + 1e-3)}
        terms.fetched = {}
        return e.compare(out, 0x7ff97ff9), terms.look(0, out)

    def test_all_that_is_said_of_an_output_is_the_same(self):
        for shape in ((64, 300), (1, 5000), (700, 1), (3, 4, 5), (1,)):
            for dtype in (torch.float32, torch.float64):
                ref, out = matrix(shape, dtype, 5)
                without, found = self.both(lambda: self.entries(ref, out))
                self.same(without, found, "%s of %s:" % (dtype, shape))
                self.assertGreater(found[0]["worst"]["error"], 0)

    def test_what_is_no_number_is_told_alike(self):
        for place, value in ((7, math.nan), (8, math.inf), (9, -math.inf)):
            ref, out = matrix((20, 30), torch.float32, 6)
            out.view(-1)[place] = value
            without, found = self.both(lambda: self.entries(ref, out))
            self.same(without, found)
            self.assertIsNone(found[0]["worst"]["error"])
            ref.view(-1)[place] = value             # on both sides it is right
            self.same(*self.both(lambda: self.entries(ref, out)))

    def test_an_output_of_zeros_and_tiny_numbers(self):
        ref, out = matrix((20, 30), torch.float64, 7)
        for scale in (0.0, 1e-310, 1e-200, 1e200):
            self.same(*self.both(lambda: self.entries(ref * scale, out * scale)))

    def test_of_equal_errors_the_first_is_shown(self):
        ref, out = torch.zeros(10, 10, dtype=torch.float64), torch.ones(10, 10)
        without, found = self.both(lambda: self.entries(ref, out))
        self.same(without, found)
        self.assertEqual(found[0]["worst"]["index"], [0, 0])

    def test_what_is_fetched_from_elsewhere_is_the_same(self):
        ref, out = matrix((30, 40), torch.float32, 8)
        _, found = self.both(lambda: self.entries(ref, out))
        with mock.patch.object(native, "fetches", lambda tensor: True):
            fetched = self.entries(ref, out)
        self.assertEqual(found, fetched)

    def test_it_takes_what_it_reads(self):
        native.open_library(LIBRARY)
        whole = torch.zeros(4, 6)
        self.assertTrue(native.takes(whole, whole.double()))
        self.assertFalse(native.takes(whole.t()))
        self.assertFalse(native.takes(whole.half()))
        self.assertFalse(native.takes(whole[:, :3]))
        native.open_library(None)
        self.assertFalse(native.takes(whole))

    def test_a_library_that_is_none_is_named(self):
        with self.assertRaisesRegex(Fault, "cannot load .*test_native.py .*bootstrap builds it"):
            native.open_library(os.path.join(os.path.dirname(__file__), "test_native.py"))


if __name__ == "__main__":
    unittest.main()
