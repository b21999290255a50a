"""The reference in float64 of forwards that name types themselves, and the sizes of terms."""
import contextlib
import sys
import types
import unittest
import os

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "support"))

from hostcase import HAVE_TORCH, NATIVE

if HAVE_TORCH:
    import torch
    from cawb_host.judge.compare import native, terms
    from cawb_host.judge.compare.reference import Expected
    from cawb_host.judge.compare.terms import DOWN, MOVE, UP, Look, Moves, doubtful, furthest, plain_matters
    from cawb_host.judge.task.runner import Runner


class Task:
    """One forward of one input."""
    form = None

    def __init__(self, forward):
        self.forward = forward

    def build(self, again):
        again()
        module = torch.nn.Module()
        module.forward = self.forward
        return module

    def elsewhere(self, device):
        return contextlib.nullcontext(device)

    def located(self, where):
        return contextlib.nullcontext(where)

    def blame(self, where):
        return contextlib.nullcontext(where)


@unittest.skipUnless(HAVE_TORCH, "no PyTorch")
class Terms(unittest.TestCase):
    def runner(self, forward):
        return Runner(Task(forward), torch.device("cpu"), 1)

    def wide(self, forward, x):
        found = self.runner(forward).forward_wide([x], 1)
        return found and found[0][1]

    def sizes(self, forward, x):
        """By how much the output moves, as a multiple of the share that all is moved by."""
        runner, reference, squares = self.runner(forward), self.wide(forward, x), 0
        for number in range(4):
            moves = Moves(torch.device("cpu"), 7, number, MOVE)
            squares = squares + (runner.forward_near([x], 1, moves.factor, moves)[0][1] - reference).square()
        return (squares / 4).sqrt() / MOVE

    def test_each_probe_begins_with_the_weights_as_they_are(self):
        runner, x = self.runner(None), torch.rand(5, 4)
        runner.module, runner.changes_module = torch.nn.Linear(4, 3), False
        weights = runner.module.weight.detach().double()
        twice = [runner.forward_near([x], 1, lambda t: t.double() * 2, None)[0][1] for _ in range(3)]
        for found in twice:
            self.assertTrue(torch.allclose(found, 4 * (x.double() @ weights.t()) + 2 * runner.module.bias.double()))
        self.assertTrue(torch.equal(runner.module.weight.double(), weights))
        runner.module = torch.nn.Linear(4, 3)
        runner.changes_module = True            # then each has a module that has not run yet
        runner.near_module = None
        runner.forward_near([x], 1, lambda t: t.double(), None)
        self.assertIsNone(runner.near_module)

    def test_a_forward_that_names_float32_has_a_reference_in_float64(self):
        x = torch.rand(50) + 0.5
        found = self.wide(lambda x: (x * 1.1).float() + torch.full((50,), 0.5, dtype=torch.float32), x)
        self.assertTrue(torch.equal(found, x.double() * 1.1 + 0.5))

    def test_what_a_forward_rounds_to_16_bits_is_rounded(self):
        x = torch.rand(50) + 0.5
        for dtype in (torch.float16, torch.bfloat16):
            found = self.wide(lambda x: (x * 3).to(dtype).float() / 7, x)
            self.assertTrue(torch.equal(found, (x.double() * 3).to(dtype).double() / 7))

    def test_bits_have_no_wide_form(self):
        self.assertIsNone(self.wide(lambda x: x.float().view(torch.int32) + 0.5, torch.rand(4)))

    def test_what_softens_its_factor_is_rounded_all_the_same(self):
        x = torch.full((4, 64), 1e-6)
        sizes = self.sizes(lambda x: torch.softmax(x, 1) - 1 / 64, x)
        self.assertGreater(float(sizes.mean()), 0.3 / 64)     # moved factors alone: 1e-6 of that

    def test_what_is_chosen_still_equals_itself(self):
        x = torch.randn(8, 30)
        sizes = self.sizes(lambda x: torch.where(x == x.amax(1, keepdim=True), 0.0, x), x)
        self.assertTrue(bool((sizes <= x.abs() + 1e-6).all()))

    def test_what_is_rounded_to_16_bits_may_be_off_by_one_roundoff(self):
        x = torch.rand(1000) + 0.5
        for dtype, roundoff in ((torch.float16, 2.0 ** -11), (torch.bfloat16, 2.0 ** -8)):
            sizes = self.sizes(lambda x: x.to(dtype).float(), x)
            allowed = float((sizes / x).median()) * 7.6e-6
            self.assertTrue(roundoff / 2 < allowed < 2 * roundoff, allowed)

    def own(self, dtype, after, spoil=lambda out: None):
        """The worst element of eager PyTorch's sums of rounded numbers, spoiled, beside its own size or that of its terms."""
        drawn = torch.Generator().manual_seed(7)
        x, w = (torch.randn(n, 8, generator=drawn).repeat(1, 2).to(dtype) for n in (4096, 1))
        x[:, 8:] *= -0.9                                     # sums are small beside their terms
        runner = self.runner(lambda x, w: after(torch.nn.functional.linear(torch.tanh(x), w)))
        reference, out = after(torch.tanh(x.double()) @ w.double().t()), runner.forward([x, w], 1)[0][1]
        expected = Expected(reference, out)
        spoil(out)
        return terms.Terms(runner, [x, w], 7, [expected]).look(0, out)["own"]

    def test_what_rounding_to_16_bits_takes_across_a_corner_is_no_error(self):
        native.open_library(NATIVE)
        self.addCleanup(native.open_library, None)
        for after in (torch.relu, torch.nn.functional.leaky_relu):
            for dtype, roundoff in ((torch.float16, 2.0 ** -11), (torch.bfloat16, 2.0 ** -8)):
                with self.subTest(after=after, dtype=dtype):
                    self.assertLess(self.own(dtype, after), 8 * roundoff)

    def test_what_no_rounding_takes_across_a_corner_is_an_error_of_any_size(self):
        native.open_library(NATIVE)
        self.addCleanup(native.open_library, None)
        for dtype in (torch.float32, torch.bfloat16):
            self.assertGreater(self.own(dtype, torch.relu, lambda out: out.masked_fill_(out == 0, 1e-3)), 1e20)

    def matters(self, numel, own, part=None, nrms=0.0):
        entry = {"nrms": 1e-8, "worst": {"error": 1e-8}, "worst_row": {"nrms": 1e-8}, "scale": 1.0, "numel": numel, "far": 0, "eager": {}}
        return plain_matters(entry, {"own": own, "part": part, "nrms": nrms}, torch.float32)

    def test_kernels_in_order_are_asked_where_that_may_change_what_is_thought(self):
        self.assertTrue(self.matters(4096, 1e-5))
        self.assertFalse(self.matters(4096, 1e-7))
        self.assertFalse(self.matters(1 << 20, 1e-5))        # no element of a large output is held against its own size
        self.assertTrue(self.matters(1 << 20, 0, {"nrms": 1e-5, "from": 2.0 ** -9}))
        self.assertFalse(self.matters(1 << 20, 0, {"nrms": 1e-3, "from": 2.0 ** -10}))
        self.assertTrue(self.matters(1 << 20, 0, {"nrms": 1e-2, "from": 2.0 ** -10}))
        self.assertFalse(self.matters(1 << 20, 0, {"nrms": 1e-2, "from": 1.0}, nrms=0.1))   # no kernel in any order comes near

    def test_where_pytorch_itself_is_off_a_second_look_is_had_at_any_error(self):
        """Another right program may be off by a thousand times as much there; else it is no matter of rounding."""
        entry = {"nrms": 0.05, "worst": {"error": 0.1}, "worst_row": {"nrms": 0.1}, "scale": 1.0, "numel": 1 << 20, "far": 0.1}
        self.assertTrue(doubtful(dict(entry, eager={"nrms": 3e-5}), torch.float32))
        self.assertFalse(doubtful(dict(entry, eager={"nrms": 3e-7}), torch.float32))

    def test_an_error_of_slight_elements_does_not_hide_one_of_large_ones(self):
        errors, eager = [0.0] * (2 * (DOWN + UP + 1) + 1), [0.0] * (2 * (DOWN + UP + 1))
        for below in (10, 20, 30):                           # octaves: less than a thousandth of the rms
            errors[DOWN], errors[DOWN - below] = 1e-4, 1e-3
            self.assertEqual(furthest(errors, eager)["from"], 1.0)
            errors[DOWN - below] = 0.0

    def test_where_all_should_be_zero_only_the_terms_have_a_size(self):
        entry = {"nrms": 1e-7, "worst": {"error": 1e-7}, "scale": 0.0, "numel": 6, "far": 0.0}
        self.assertTrue(doubtful(entry, torch.float32))
        self.assertFalse(doubtful(dict(entry, worst={"error": 0.0}), torch.float32))
        zeros, sizes = torch.zeros(2, 3, dtype=torch.float64), torch.full((2, 3), 4.0, dtype=torch.float64)
        look = Look(types.SimpleNamespace(scale=0.0, rms=0.0, dtype=torch.float32), 2, 3)
        look.take(0, zeros + 1e-7, zeros, sizes)
        found = look.result()
        for measure in (found["worst"], found["nrms"], found["own"], found["worst_row"]["nrms"]):
            self.assertAlmostEqual(measure, 2.5e-8, delta=1e-12)


if __name__ == "__main__":
    unittest.main()
