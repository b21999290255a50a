"""What a straightforward kernel is off by, products that leave their type, and inputs of which every place has its turn."""
import sys
import types
import unittest
import os

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "support"))

from hostcase import HAVE_TORCH, PACKAGES

if HAVE_TORCH:
    import torch
    from cawb_host.base.fault import Fault
    from cawb_host.judge.inputs import battery, guard, places
    from cawb_host.judge.compare import plain


@unittest.skipUnless(HAVE_TORCH, "needs PyTorch")
class Products(unittest.TestCase):
    def test_a_run_of_factors_beyond_the_type_is_told(self):
        x = torch.full((2, 300), 4.0)
        self.assertFalse(guard.runs({"self": x, "dim": 1}))
        x[:, ::60] = 0                                        # 4^59
        self.assertTrue(guard.runs({"self": x, "dim": 1}))
        self.assertTrue(guard.runs({"self": x.t(), "dim": 0}))
        x[1, 60] = 1                                          # 4^118
        self.assertFalse(guard.runs({"self": x, "dim": 1}))
        self.assertFalse(guard.runs({"self": x}))
        self.assertTrue(guard.runs({"self": x.double(), "dim": 1}))

    def test_a_class_out_of_its_range_is_told_before_one_hot_scatters(self):
        with guard.Guard(), self.assertRaises(Fault):
            torch.zeros(2, 5, dtype=torch.int64).scatter_(-1, torch.tensor([[1], [9]]), 1)       # as one_hot does on a GPU


@unittest.skipUnless(HAVE_TORCH, "needs PyTorch")
class Plain(unittest.TestCase):
    """What a straightforward kernel is off by."""

    def run_plain(self, call, order=0):
        with plain.Plain(order, 3) as mode:
            made = call()
        return made, mode.did

    def test_a_functions_error_leaves_no_element_exact(self):
        x = torch.rand(4000) + 0.1
        made, did = self.run_plain(lambda: torch.erf(x))
        off = ((made - torch.erf(x)) / torch.erf(x)).abs()
        self.assertTrue(did)
        self.assertGreater(float(off.min()), 1.5 * plain.ULP)
        self.assertLess(float(off.max()), 2.5 * plain.ULP)

    def test_sums_are_added_up_in_order_in_their_own_type(self):
        x = torch.full((2, 4000), 0.1)
        eager, exact = x.sum(1), x.double().sum(1)
        for order, least in ((0, 1e-5), (1, 1e-5), (2, 0)):
            made, did = self.run_plain(lambda: x.sum(1), order)
            error = float(((made - exact) / exact).abs().max())
            self.assertTrue(did and least <= error < 1e-3, (order, error))
        made, _ = self.run_plain(lambda: torch.cumsum(x, 1))
        self.assertEqual(float(made[0, 1]), float(x[0, 0] + x[0, 1]))
        self.assertGreater(float((made[:, -1] - exact).abs().max()), 10 * float((eager - exact).abs().max()))

    def test_what_is_made_of_sums_is_taken_apart(self):
        x, w = torch.randn(5, 300), torch.randn(300, 7)
        for call in (lambda: torch.softmax(x, 1), lambda: torch.nn.functional.layer_norm(x, (300,)), lambda: x @ w,
                     lambda: x.var(1), lambda: x.norm(dim=1), lambda: torch.logsumexp(x, 1), lambda: x.mean(0),
                     lambda: torch.addmm(w[0], x, w, beta=2), lambda: torch.bmm(x.view(5, 1, 300), w.expand(5, 300, 7)),
                     lambda: torch.nn.functional.gelu(x), lambda: x[:, :9].prod(1), lambda: torch.cumprod(x, 1)):
            for way in range(plain.WAYS):
                made, did = self.run_plain(call, way)
                self.assertTrue(did)
                torch.testing.assert_close(made, call(), rtol=1e-4, atol=1e-5)

    def test_a_variance_in_one_pass_counts_as_straightforward(self):
        """Beside a first element that lies far out its sums are nearly alike."""
        x = torch.randn(8, 300) + 3000
        x[:, 0] += 200
        exact, errors = x.double().var(1), {}
        for way in range(plain.WAYS):
            made, _ = self.run_plain(lambda: torch.var_mean(x, 1), way)
            errors[way] = float(((made[0] - exact) / exact).abs().max())
            torch.testing.assert_close(made[1], x.mean(1), rtol=1e-6, atol=0)
        inferior = float(((x.square().mean(1) - x.mean(1).square()) * 300 / 299 / exact - 1).abs().max())
        for way in range(plain.ORDERS):
            self.assertLess(errors[way], 1e-5)
            self.assertLess(errors[plain.ORDERS + way], inferior / 10)
        self.assertGreater(max(errors[way] for way in range(plain.ORDERS, plain.WAYS)), 2 * max(map(errors.get, range(plain.ORDERS))))

    def test_ways_of_one_pass_are_gone_only_where_there_is_a_variance(self):
        runner = types.SimpleNamespace()
        for call, count in ((lambda: torch.sum(x, 1), plain.ORDERS), (lambda: x.std(1), plain.WAYS)):
            x = torch.randn(5, 300)
            def forward(_inputs, _seed, mode, call=call):
                with mode:
                    return [("result", call())]
            runner.forward = forward
            self.assertEqual(len(plain.outputs(runner, [x], 3)), count)

    def test_what_would_take_long_is_left(self):
        with self.assertRaises(plain.Short):
            self.run_plain(lambda: torch.ones(plain.STEPS + 1).sum())
        double, did = self.run_plain(lambda: torch.ones(9, dtype=torch.float64).sum())
        self.assertEqual((float(double), did), (9, False))


@unittest.skipUnless(HAVE_TORCH, "needs PyTorch")
class Places(unittest.TestCase):
    """Where a task chooses every place has its turn."""

    def plan(self, shape, name="amax", **args):
        return places.Plan([{"name": name, "inputs": [{"shape": list(shape)}], "args": args}])

    def drawn(self, plan, like, stage, seed=5):
        return battery.apply("places:%d" % stage, [like], choices=(plan, seed))[0]

    def test_every_place_is_once_the_largest_and_once_the_smallest(self):
        for shape, dim in (((3, 40), 1), ((40, 3), 0), ((2, 30, 4), 1), ((4, 2, 2), 1), ((1, 1100), 1)):
            plan, like = self.plan(shape, dim=[dim]), torch.zeros(shape)
            stages = range(1, plan.stages() + 1)
            made = [self.drawn(plan, like, stage) for stage in stages]
            for which in (torch.argmax, torch.argmin):
                seen = {int(i) for t in made for i in which(t, dim).reshape(-1)}
                self.assertEqual(seen, set(range(shape[dim])))
            self.assertFalse(torch.equal(made[0], made[1]))

    def test_all_of_it_is_one_line_where_no_dimension_is_told(self):
        plan, like = self.plan((4, 6)), torch.zeros(4, 6)
        self.assertEqual(plan.stages(), 24)
        self.assertEqual({int(self.drawn(plan, like, s).argmax()) for s in range(1, 25)}, set(range(24)))

    def test_ends_of_blocks_come_first(self):
        first = places.order(1024, torch.Generator().manual_seed(1)).tolist()
        self.assertEqual(set(first[:2]), {0, 1023})
        self.assertEqual(set(first[2:64]), {p for p in range(1024) if p % 32 in (0, 31)} - {0, 1023})
        self.assertLess(max(first.index(p) for p in (255, 256, 511, 512, 767, 768)), max(map(first.index, (32, 63, 95))))

    def test_who_does_not_choose_has_no_stages(self):
        self.assertEqual(self.plan((3, 40), name="sum", dim=[1]).stages(), 0)
        self.assertEqual(self.plan((3, 4000), name="_softmax", dim=1).stages(), places.FEW)
        self.assertEqual(self.plan((4000, 40), dim=[1]).stages(), places.FEW)

    def test_a_stage_is_the_same_again_and_keeps_strides(self):
        like = torch.zeros(40, 3, dtype=torch.float16).t()
        plan = self.plan((3, 40), dim=1)
        a, b = self.drawn(plan, like, 2), self.drawn(plan, like, 2)
        self.assertTrue(torch.equal(a, b) and a.stride() == like.stride() and bool(torch.isfinite(a).all()))
        with self.assertRaises(Exception):
            battery.apply("places:0", [like], choices=(plan, 5))


if __name__ == "__main__":
    unittest.main()
