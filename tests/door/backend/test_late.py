"""The backend of torch.compile: gradients that stand for operators of PyTorch's (late.py, sampling.py), against those."""
import itertools
import math
import os
import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
os.environ.setdefault("CAWB_PROGRAM", str(ROOT / "build" / "release" / "bin" / "cawb"))
sys.path.insert(0, str(ROOT / "python"))

import torch                                  # noqa: E402  pylint: disable=wrong-import-position
from torch.nn import functional as F          # noqa: E402  pylint: disable=wrong-import-position
from cawb.backend import attention, late      # noqa: E402  pylint: disable=wrong-import-position

aten = torch.ops.aten


class Gradients(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(4)

    def same(self, operator, *given):
        """What stands for an operator finds the same."""
        found, wanted = late.WAYS[operator](*given), operator(*given)
        for a, b in zip(*[x if isinstance(x, tuple) else (x,) for x in (found, wanted)], strict=True):
            torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-5)

    def test_reads_at_computed_places(self):
        x, grid, grad = torch.randn(2, 3, 5, 7), torch.rand(2, 4, 6, 2) * 2.6 - 1.3, torch.randn(2, 3, 4, 6)
        deep, places, more = torch.randn(2, 3, 4, 5, 6), torch.rand(2, 2, 3, 4, 3) * 7 - 3.5, torch.randn(2, 3, 2, 3, 4)
        for interpolation, padding, align in itertools.product((0, 1), (0, 1, 2), (False, True)):
            self.same(aten.grid_sampler_2d_backward.default, grad, x, grid, interpolation, padding, align, [True, True])
            self.same(aten.grid_sampler_3d_backward.default, more, deep, places, interpolation, padding, align, [True, True])
        flat = torch.randn(2, 3, 1, 7)
        self.same(aten.grid_sampler_2d_backward.default, grad, flat, grid, 0, 2, True, [True, True])

    def test_means_of_windows(self):
        x = torch.randn(2, 3, 8, 7)
        for ceil, include, divisor, (kernel, stride, padding) in itertools.product((False, True), (False, True), (None, 3), (
                (3, 2, 1), (2, 2, 0), (3, 3, 1), (2, 3, 1))):
            grad = torch.randn_like(F.avg_pool2d(x, kernel, stride, padding, ceil, include, divisor))
            self.same(aten.avg_pool2d_backward.default, grad, x, [kernel], [stride], [padding], ceil, include, divisor)
        for size in ((3, 4), (4, 7), (8, 1), (5, 9)):
            self.same(aten._adaptive_avg_pool2d_backward.default, torch.randn(2, 3, *size), x)
        self.same(aten._adaptive_avg_pool3d_backward.default, torch.randn(1, 2, 2, 3, 3), torch.randn(1, 2, 5, 4, 6))
        self.same(aten.avg_pool3d_backward.default, torch.randn(1, 2, 2, 2, 3), torch.randn(1, 2, 5, 4, 6), [2], [], [0], False, True, None)

    def test_transposed_convolutions_padded_by_more_than_a_stride(self):
        x, weight = torch.randn(1, 2, 4, 4), torch.randn(2, 3, 2, 2)
        given = [1, 2], [0, 1], [3, 4]
        grad = torch.randn_like(aten.convolution(x, weight, None, *given, True, [2, 3], 1))
        self.same(aten.convolution_backward.default, grad, x, weight, [3], *given, True, [2, 3], 1, [True, True, True])

    def test_largest_of_windows(self):
        x = torch.randn(2, 3, 7, 9)
        y, places = F.adaptive_max_pool2d(x, (3, 4), return_indices=True)
        self.same(aten.adaptive_max_pool2d_backward.default, torch.randn_like(y), x, places)
        x = torch.randn(1, 2, 4, 5, 6)
        y, places = F.adaptive_max_pool3d(x, (2, 3, 3), return_indices=True)
        self.same(aten.adaptive_max_pool3d_backward.default, torch.randn_like(y), x, places)
        for size, kernel, stride, padding, dilation, ceil in itertools.product(((9, 12), (8, 7)), ([3], [2, 3]), ([], [2], [1, 3]), ([0], [1]), ([1], [2, 1]), (False, True)):
            z = torch.randn(2, 3, *size).round(decimals=1)          # equal elements: the first one has all
            y, places = aten.max_pool2d_with_indices(z, kernel, stride, padding, dilation, ceil)
            self.same(aten.max_pool2d_with_indices_backward.default, torch.randn_like(y), z, kernel, stride, padding, dilation, ceil, places)
        z = torch.randn(3, 20, 21)
        y, places = aten.max_pool2d_with_indices(z, [13], [1], [6])
        self.same(aten.max_pool2d_with_indices_backward.default, torch.randn_like(y), z, [13], [1], [6], [1], False, places)
        y, places = F.max_pool3d(x, (3, 2, 3), 2, 1, return_indices=True)
        self.same(aten.max_pool3d_with_indices_backward.default, torch.randn_like(y), x, [3, 2, 3], [2] * 3, [1] * 3, [1] * 3, False, places)
        y, places = F.max_pool3d(x, 2, return_indices=True)
        self.same(aten.max_pool3d_with_indices_backward.default, torch.randn_like(y), x, [2] * 3, [2] * 3, [0] * 3, [1] * 3, False, places)

    def test_copies_of_neighbours(self):
        for given, scales in (([11, 10], ()), ([14, 18], ()), ([11, 10], (1.6, 1.2))):
            self.same(aten.upsample_nearest2d_backward.default, torch.randn(2, 3, *given), given, [2, 3, 7, 9], *scales)
        for name, size, padding in (("1d", (5,), [1, 2]), ("2d", (5, 4), [1, 2, 3, 0]), ("3d", (3, 4, 2), [1, 0, 2, 2, 0, 1])):
            x = torch.randn(1, 2, *size)
            grad = torch.randn_like(F.pad(x, padding, mode="replicate"))
            self.same(getattr(aten, "replication_pad%s_backward" % name).default, grad, x, padding)

    def test_values_added_at_places_behind_other_dimensions(self):
        x, first, second = torch.randn(2, 3, 4, 5, 2), torch.randint(-4, 4, (6, 1)), torch.randint(-5, 5, (7,))
        for accumulate, indices in itertools.product((True, False), ([None, None, first, second], [None, None, None, second], [None, first[:, 0].clamp(-3, 2)])):
            size = torch.ops.aten.index(x, indices).shape
            values = torch.randn(size) if accumulate else torch.tensor(0.5)
            self.same(aten.index_put.default, x, indices, values, accumulate)
        self.same(aten.index_put.default, x, [None, None, first, second], torch.randn(7, 2), True)

    def test_resampling_that_smooths(self):
        for name, size, align in itertools.product(("bilinear", "bicubic"), ((3, 4), (5, 9), (11, 20)), (False, True)):
            backward = getattr(aten, "_upsample_%s2d_aa_backward" % name).default
            self.same(backward, torch.randn(2, 3, *size), size, [2, 3, 7, 9], align, None, None)
        self.same(backward, torch.randn(2, 3, 3, 4), (3, 4), [2, 3, 7, 9], False, 0.5, 0.45)

    def test_norms_of_weights_and_distances(self):
        for dim in (0, 1):
            v = torch.randn(4, 5)
            norms = v.norm(dim=1 - dim, keepdim=True)
            self.same(aten._weight_norm_interface_backward.default, torch.randn(4, 5), v, torch.randn_like(norms), norms, dim)
        x, y = torch.randn(5, 3), torch.randn(4, 3)
        for p in (1.0, 2.0):
            self.same(aten._cdist_backward.default, torch.randn(5, 4), x, y, p, torch.cdist(x, y, p))

    def test_attention_of_a_row_that_sees_nothing(self):
        q, k, v, grad = (torch.randn(2, 2, 6, 8) for _ in range(4))
        mask = torch.zeros(6, 6).masked_fill(torch.ones(6, 6).tril() == 0, -math.inf).index_fill(0, torch.tensor([2]), -math.inf)
        given, flash = (q, k, v, 0.0, False), aten._scaled_dot_product_flash_attention_for_cpu
        out, sums = flash(*given, attn_mask=mask)
        for found, wanted in zip(attention.on_processors(*given, attn_mask=mask), (out, sums)):
            torch.testing.assert_close(found, wanted)
        wanted = aten._scaled_dot_product_flash_attention_for_cpu_backward(grad, q, k, v, out, sums, 0.0, False, attn_mask=mask)
        for of_the_row in (0.0, -math.inf, math.inf):
            sums[:, :, 2] = of_the_row
            for a, b in zip(attention.on_processors_backward(grad, q, k, v, out, sums, 0.0, False, attn_mask=mask), wanted):
                torch.testing.assert_close(a, b)


if __name__ == "__main__":
    unittest.main()
