"""How the backend of torch.compile compares the first results of kernels."""
import operator
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))

import torch                                  # noqa: E402  pylint: disable=wrong-import-position
from torch.utils._python_dispatch import TorchDispatchMode     # noqa: E402  pylint: disable=wrong-import-position
from cawb.backend import check, packages      # noqa: E402  pylint: disable=wrong-import-position


class Largest(torch.nn.Module):
    def forward(self, x):
        found = x.sum(2).max(1)
        return found[0], found[1]


class Check(unittest.TestCase):
    def setUp(self):
        self.x = torch.rand(3000, 2, 64, generator=torch.Generator().manual_seed(1)) - 0.5
        self.x[::30, 1] = self.x[::30, 0].flip(1)        # some pairs of sums are nearly equal
        self.values, self.places = Largest()(self.x)

    def compare(self, places):
        return check.compare(torch.fx.symbolic_trace(Largest()), [self.x], [self.values, places])["ok"]

    def test_rounding_decides_between_nearly_equal_values(self):
        other = self.x.flip(2).sum(2).max(1)[1]
        self.assertGreater((other != self.places).sum().item(), 0)
        self.assertTrue(self.compare(other))

    def test_a_result_that_is_rounding_around_zero_has_no_error(self):
        class Centred(torch.nn.Module):
            def forward(self, x):
                return x[0] / 3 - (x[0] / 3 + x[1] / 7) + x[1] / 7, x * 3
        x = torch.rand(2, 4096, generator=torch.Generator().manual_seed(3)) + 1
        module = torch.fx.symbolic_trace(Centred())
        verdict = check.compare(module, [x], [module(x)[0] + 1e-8, x * 3])
        self.assertTrue(verdict["ok"])
        self.assertEqual(verdict["noise"], [1])
        self.assertLess(verdict["error"], 1e-6)
        self.assertLess(verdict["eager"], 1e-6)

    def precisions(self, has_float64):
        """What is allowed where eager PyTorch computes, of a graph that TF32 is allowed for."""
        seen = []

        def asks(x):
            if x.dtype == torch.float64 and not has_float64:
                raise NotImplementedError("no float64")
            seen.append(packages.precision())
            return x * 2
        graph = torch.fx.Graph()
        graph.output((graph.call_function(asks, (graph.placeholder("x"),)),))
        self.addCleanup(setattr, torch.backends.cudnn, "allow_tf32", torch.backends.cudnn.allow_tf32)
        torch.backends.cudnn.allow_tf32 = True
        allowed = packages.precision()
        check.compare(torch.fx.GraphModule({}, graph), [self.x], [self.x * 2])
        self.assertEqual(packages.precision(), allowed)
        return seen[-1], allowed

    def test_strict_float32_is_the_measure_where_there_is_no_float64(self):
        found, allowed = self.precisions(has_float64=False)
        self.assertNotEqual(found, allowed)
        found, allowed = self.precisions(has_float64=True)
        self.assertEqual(found, allowed)

    def test_float64_that_comes_in_other_strides_is_compared(self):
        class Wide(TorchDispatchMode):
            def __torch_dispatch__(self, func, types, args=(), kwargs=None):
                made = func(*args, **(kwargs or {}))
                return made.mT.contiguous().mT if func is torch.ops.aten.exp.default and made.dtype == torch.float64 else made
        graph = torch.fx.Graph()
        risen = graph.call_function(torch.ops.aten.exp.default, (graph.placeholder("x"),))
        graph.output((graph.call_function(torch.ops.aten.view.default, (risen, [-1])),))
        with Wide():
            verdict = check.compare(torch.fx.GraphModule({}, graph), [self.x], [self.x.exp().flatten()])
        self.assertTrue(verdict["ok"])
        self.assertIsNotNone(verdict["error"])

    def test_wrong_places_are_wrong(self):
        self.assertTrue(self.compare(self.places))
        self.assertFalse(self.compare(1 - self.places))
        self.assertFalse(self.compare(torch.zeros_like(self.places)))
        self.assertFalse(self.compare(self.places.int()))

    def test_a_single_place_is_exact_where_nothing_is_nearly_equal(self):
        self.x = torch.randn(50, 2, 64, generator=torch.Generator().manual_seed(2))
        self.values, self.places = Largest()(self.x)
        self.places[7] = 1 - self.places[7]
        self.assertFalse(self.compare(self.places))

    def test_signs_behind_a_gpus_attention_are_compared_with_float64s(self):
        attend = torch.ops.aten._scaled_dot_product_efficient_attention
        for sums in (True, False):
            graph = torch.fx.Graph()
            q, mask = graph.placeholder("q"), graph.placeholder("mask")
            node = graph.call_function(attend.default, (q, q, q, mask, sums))
            graph.output((graph.call_function(torch.le, (graph.call_function(operator.getitem, (node, 0)), 0)),))
            module = torch.fx.GraphModule(torch.nn.Module(), graph)
            q, mask = torch.randn(2, 3, 40, 16), torch.randn(2, 3, 40, 40)
            exact, = check.wide(module, [q, mask])
            q, mask = q.double(), mask.double()
            self.assertTrue(torch.equal(exact, torch.nn.functional.scaled_dot_product_attention(q, q, q, mask) <= 0))

    def test_a_view_behind_a_gpus_attention_has_float64(self):
        graph = torch.fx.Graph()
        q, mask = graph.placeholder("q"), graph.placeholder("mask")
        node = graph.call_function(torch.ops.aten._scaled_dot_product_efficient_attention.default, (q, q, q, mask, True))
        behind = graph.call_function(torch.transpose, (graph.call_function(operator.getitem, (node, 0)), 1, 2))
        graph.output((graph.call_function(torch.ops.aten.view.default, (behind, [2, 40, 48])),))
        q, mask = torch.randn(2, 3, 40, 16), torch.randn(2, 3, 40, 40)
        exact, = check.wide(torch.fx.GraphModule(torch.nn.Module(), graph), [q, mask])
        q, mask = q.double(), mask.double()
        wanted = torch.nn.functional.scaled_dot_product_attention(q, q, q, mask).transpose(1, 2).reshape(2, 40, 48)
        torch.testing.assert_close(exact, wanted, rtol=1e-12, atol=1e-12)


if __name__ == "__main__":
    unittest.main()
