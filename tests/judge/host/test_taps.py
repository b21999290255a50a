"""Transposed convolutions, a tap at a time."""
import os
import random
import sys
import tempfile
import unittest
from unittest import mock

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "support"))

from hostcase import PACKAGES, HAVE_TORCH, NATIVE, task

if HAVE_TORCH:
    import torch
    from cawb_host.judge.study import Study
    from cawb_host.judge.task import taps
    from cawb_host.judge.workload import Workload

convolution = HAVE_TORCH and torch.ops.aten.convolution.default


def drawn(choose, dims):
    """Arguments of a convolution that there can be."""
    while True:
        groups, ins, outs = choose.choice((1, 1, 2, 3)), choose.randint(1, 3), choose.randint(1, 3)
        kernel, stride, dilation, size = ([choose.randint(1, most) for _ in range(dims)] for most in (4, 3, 3, 6))
        padding = [choose.randint(0, 3) for _ in range(dims)]
        more = [choose.randint(0, max(s, d) - 1) for s, d in zip(stride, dilation)]
        if all((n - 1) * s - 2 * p + d * (k - 1) + m >= 0
               for n, s, p, d, k, m in zip(size, stride, padding, dilation, kernel, more)):
            x = torch.randn(2, groups * ins, *size, dtype=torch.float64)
            weight = torch.randn(groups * ins, outs, *kernel, dtype=torch.float64)
            bias = torch.randn(groups * outs, dtype=torch.float64) if choose.random() < 0.5 else None
            return x, weight, bias, stride, padding, dilation, True, more, groups


@unittest.skipUnless(HAVE_TORCH, "this Python has no PyTorch")
class TapByTap(unittest.TestCase):
    def test_it_is_what_pytorch_says(self):
        choose = random.Random(5)
        torch.manual_seed(5)
        for dims in (1, 2, 3):
            for _ in range(25):
                args = drawn(choose, dims)
                want, got = convolution(*args), taps.transposed(*args)
                self.assertEqual(got.shape, want.shape)
                self.assertTrue(torch.allclose(got, want, rtol=1e-12, atol=1e-12), [list(a.shape) for a in args[:2]] + list(args[3:]))

    def test_one_number_stands_for_all_dimensions(self):
        args = drawn(random.Random(1), 2)[:3] + ([2], [0], [1], True, [1], 1)
        args = (args[0][:, :1], args[1][:1], None) + args[3:]
        self.assertTrue(torch.allclose(taps.transposed(*args), convolution(*args)))

    def test_what_does_not_fit_is_left_to_pytorch(self):
        x = torch.randn(1, 1, 4, dtype=torch.float64)
        weight = torch.randn(1, 1, 2, dtype=torch.float64)
        seen = []
        with mock.patch.object(taps, "fits", lambda *args: seen.append(args[6])), taps.Taps():
            torch.nn.functional.conv_transpose1d(x, weight)
            torch.nn.functional.conv1d(x, weight)
        self.assertEqual(seen, [True, False])
        self.assertFalse(taps.fits(x, weight, None, [1], [0], [1], True, [0], 1))        # not on a GPU

    def test_those_that_fit_are_done_so(self):
        x = torch.randn(2, 3, 4, 5, dtype=torch.float64)
        module = torch.nn.ConvTranspose2d(3, 2, 3, stride=2, padding=1, dtype=torch.float64)
        with torch.no_grad(), mock.patch.object(taps, "fits", lambda *args: args[6]), \
                mock.patch.object(taps, "transposed", wraps=taps.transposed) as used, taps.Taps():
            got = module(x)
        self.assertEqual(used.call_count, 1)
        self.assertTrue(torch.allclose(got, module(x)))


@unittest.skipUnless(HAVE_TORCH, "this Python has no PyTorch")
class Free(unittest.TestCase):
    """Where cuDNN may choose, and does not repeat itself, it may not."""

    def test_the_study_begins_again(self):
        seen, repeats = [], Study.repeats

        def other_bits(work, trial, outputs, seed):
            seen.append(work.runner.free)
            if len(seen) == 1:
                work.runner.free = True
                work.notes.append("other bits")
                return False
            return repeats(work, trial, outputs, seed)
        text = task("return self.up(x)", "[torch.rand(2, 3, 8)]", setup="self.up = nn.ConvTranspose1d(3, 2, 3)")
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(Study, "repeats", other_bits):
            path = os.path.join(folder, "foo.py")
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            work = Workload(path, torch.device("cpu"), {}, 1, library=NATIVE)
            self.addCleanup(work.close)
        self.assertEqual((len(seen), work.runner.free, work.deterministic, work.random), (2, False, True, False))
        self.assertEqual(work.notes, [])


if __name__ == "__main__":
    unittest.main()
