"""A product against a secret vector: what it sees of a wrong one, and when there is none."""
import itertools
import sys
import types
import unittest
import os

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "support"))

from hostcase import HAVE_TORCH, POISON, PACKAGES, Loaded, TaskCase

if HAVE_TORCH:
    import torch
    from cawb_host.judge.compare import algebra
    from cawb_host.judge.compare import freivalds
    from cawb_host.judge.compare.gpu import Readback
    from cawb_host.judge.compare.gpu_output import rows_of_bytes
    from cawb_host.base.forms import results

TASK = """
    import torch
    class Model(torch.nn.Module):
        def forward(self, a, b):
            return %s
    def get_inputs():
        return [torch.rand(8, 512), torch.rand(512, 6)]
    def get_init_inputs():
        return []
"""


class Bare:
    """As much of a Runner as a Check needs."""

    def __init__(self, module):
        self.module, self.device = module, torch.device("cpu")

    def follow(self, inputs, _seed, mode):
        with torch.no_grad(), mode:
            return [t for _, t in results(self.module(*inputs))]


@unittest.skipUnless(HAVE_TORCH, "needs PyTorch")
class Freivalds(TaskCase):
    def product(self, module, inputs):
        """The Check of a module, and its outputs."""
        runner = Bare(module)
        trial = types.SimpleNamespace(inputs=inputs, seed=1, case=None)
        outputs = [t.detach().contiguous() for _, t in results(module(*inputs))]
        check = freivalds.Check(runner)
        check.accept(trial, outputs)
        return check, outputs[0]

    seeds = itertools.count(2)          # every trial has another secret vector

    def error(self, check, module, inputs, output, at=0, seed=None):
        outputs = [t.contiguous() for _, t in results(module(*inputs))]
        trial = types.SimpleNamespace(inputs=inputs, seed=seed or next(self.seeds), case=None)
        back = Readback()
        handle = check.begin(trial, lambda i: rows_of_bytes(output if i == at else outputs[i]), back)[at]
        back.read()
        return back.numbers(handle)[0]

    def module(self, forward):
        class Model(torch.nn.Module):
            def forward(self, *args):
                return forward(*args)
        return Model()

    def test_products_are_found_and_right_ones_pass(self):
        linear = torch.nn.Linear(300, 7)
        for module, inputs in (
                (self.module(torch.matmul), [torch.rand(9, 400), torch.rand(400, 5)]),
                (self.module(lambda a, b: a @ b.t()), [torch.randn(9, 400), torch.randn(5, 400)]),
                (self.module(lambda a, b: a.t() @ b), [torch.randn(400, 9), torch.randn(400, 5)]),
                (self.module(torch.bmm), [torch.randn(3, 9, 50), torch.randn(3, 50, 5)]),
                (self.module(torch.matmul), [torch.randn(2, 3, 9, 50), torch.randn(50, 5)]),
                (linear, [torch.randn(9, 300)])):
            product, output = self.product(module, inputs)
            self.assertLess(self.error(product, module, inputs, output), 1e-6)

    def test_what_is_wrong_is_seen(self):
        module, inputs = self.module(torch.matmul), [torch.rand(40, 512), torch.rand(512, 50)]
        product, right = self.product(module, inputs)
        short = inputs[0][:, :-1] @ inputs[1][:-1]
        skipped = right.clone()
        skipped[:, -1] = 0
        stale = right.clone()
        stale[8:16] = right[:8]
        for wrong in (short, skipped, stale, torch.zeros_like(right), right.mean() + 0 * right):
            # one secret vector may lie badly; every trial has another
            self.assertGreater(max(self.error(product, module, inputs, wrong) for _ in range(4)), 1e-5)
        near = right + 0.1 * torch.randn(40, 50)
        self.assertEqual(self.error(product, module, inputs, near, seed=7), self.error(product, module, inputs, near, seed=7))
        self.assertNotEqual(self.error(product, module, inputs, near, seed=7), self.error(product, module, inputs, near, seed=8))
        right[3, 3] = float("nan")
        self.assertFalse(self.error(product, module, inputs, right) <= 1)

    LINEAR = {
        "bias, scale and residual": lambda a, b: (a @ b + torch.arange(5.)) * 0.5 - a[:, :5] / 3,
        "alpha and beta": lambda a, b: torch.addmm(torch.ones(5), a, b, alpha=2, beta=3),
        "a factor for each column": lambda a, b: (a @ b) * torch.arange(1., 6),
        "a factor for each row": lambda a, b: torch.arange(1., 10).unsqueeze(1) * (a @ b),
        "what comes before": lambda a, b: torch.relu(a) @ torch.softmax(b, 1),
        "a chain": lambda a, b: a @ b @ b.t() @ (b + 1),
        "a batch": lambda a, b: torch.matmul(a.reshape(3, 3, 40), b.expand(3, 40, 5)) + 1,
        "four dimensions": lambda a, b: torch.matmul(a.reshape(1, 3, 3, 40), b) * 2,
        "in place": lambda a, b: (a @ b).add_(1).mul_(-2),
        "transposed": lambda a, b: ((b.t() @ a.t()) * torch.arange(1., 10)).t() + torch.arange(5.),
        "row sums": lambda a, b: (a @ b).sum(1),
        "column means": lambda a, b: (a @ b - 3).mean(0, keepdim=True) * torch.arange(5.),
        "all of it": lambda a, b: 2 * (a @ b).mean(),
        "less its mean": lambda a, b: (lambda c: c - c.mean(1, keepdim=True))(a @ b),
        "einsum": lambda a, b: torch.einsum("bil,lk->bik", a.reshape(3, 3, 40), b) + 1,
        "a batch's mean": lambda a, b: (a.reshape(3, 3, 40) @ b.expand(3, 40, 5)).mean((0, 1)),
    }

    def test_what_is_linear_in_products_is_followed(self):
        torch.manual_seed(5)                 # what is left out may be next to nothing: "all of it" is one number
        for name, forward in self.LINEAR.items():
            with self.subTest(name):
                module, inputs = self.module(forward), [torch.randn(9, 40), torch.randn(40, 5)]
                check, output = self.product(module, inputs)
                self.assertEqual((check.outputs, check.why), ([0], None))
                self.assertLess(self.error(check, module, inputs, output), 1e-6)
                short = forward(inputs[0] * (torch.arange(40) < 39), inputs[1])
                wrong = short.contiguous() if name != "what comes before" else output * 1.001
                self.assertGreater(max(self.error(check, module, inputs, wrong) for _ in range(4)), 1e-5)

    def test_one_wrong_element_is_seen_wherever_it_is(self):
        for name, forward in self.LINEAR.items():
            with self.subTest(name):
                module, inputs = self.module(forward), [torch.randn(9, 40), torch.randn(40, 5)]
                check, output = self.product(module, inputs)
                wrong = output.clone()
                wrong.view(-1)[wrong.numel() * 2 // 3] += 1 + wrong.abs().max()
                self.assertGreater(max(self.error(check, module, inputs, wrong) for _ in range(4)), 1e-4)

    def test_factors_of_zeros(self):
        """As a draw of whole numbers may have them: nothing is off by nothing, and anything by too much."""
        module = self.module(lambda a, b: a @ b)
        check, _ = self.product(module, [torch.rand(1, 1), torch.rand(1, 1)])
        inputs = [torch.zeros(1, 1), torch.ones(1, 1)]
        self.assertEqual(self.error(check, module, inputs, torch.zeros(1, 1)), 0)
        self.assertEqual(self.error(check, module, inputs, torch.ones(1, 1)), float("inf"))

    def test_each_output_has_its_own(self):
        forward = lambda a, b: (a @ b + 1, a + 1, {"mean": (a @ b).mean(0)})
        module, inputs = self.module(forward), [torch.randn(9, 40), torch.randn(40, 5)]
        check, _ = self.product(module, inputs)
        self.assertEqual(check.outputs, [0, 2])
        wrong = forward(*inputs)[2]["mean"] + 0.1
        self.assertGreater(self.error(check, module, inputs, wrong, 2), 1e-4)

    def test_what_is_not_linear_is_refused_with_its_reason(self):
        inputs = [torch.randn(9, 40), torch.randn(40, 5)]
        for forward, words in (
                (lambda a, b: torch.relu(a @ b), "aten.relu.default takes a product's result"),
                (lambda a, b: (a @ b) * (a @ b), "two products are multiplied"),
                (lambda a, b: 1 / (a @ b), "takes a product's result"),
                (lambda a, b: a[:, :5] / (a @ b), "a division by a product"),
                (lambda a, b: (a @ b) * a[:, :5], "a factor for each element"),
                (lambda a, b: (a @ b).reshape(45), "cuts or joins the product's rows"),
                (lambda a, b: torch.sort(a, 1)[0] @ b, "would have to be done again"),
                (lambda a, b: a @ b if (a @ b)[0, 0] > 0 else a @ b, ""),
                (lambda a, b: a + 1, "no output is linear in a product")):
            check, _ = self.product(self.module(forward), inputs)
            self.assertEqual(check.outputs, [])
            self.assertIn(words, check.why)

    def test_what_eager_pytorch_does_not_agree_with_is_not_checked(self):
        def forward(a, b):
            c = a @ b
            c.view(9, 5).add_(1)                 # behind the back of what stands for c
            return c
        check, _ = self.product(self.module(forward), [torch.randn(9, 40), torch.randn(40, 5)])
        self.assertEqual(check.outputs, [])
        self.assertIn("PyTorch's own output is off by", check.why)

    def test_blocks_of_rows_add_nothing(self):
        was, matrix = algebra.BLOCK, torch.randn(3, 70, 40)
        whole = algebra.times(matrix, torch.ones(40, dtype=torch.float64))
        try:
            algebra.BLOCK = 900
            parts = algebra.times(matrix, torch.ones(40, dtype=torch.float64))
        finally:
            algebra.BLOCK = was
        self.assertLess(float((whole - parts).abs().max()), 1e-12)

    def test_each_slot_has_its_error(self):
        for forward, there in (("a @ b", True), ("(b.t() @ a.t())", True), ("torch.relu(a @ b)", False)):
            loaded = Loaded(self.host, self.write(TASK % forward))
            self.assertEqual(loaded.reply["products"]["checked"], there)
            self.assertTrue(loaded.inputs(3)["ok"])
            entry = loaded.compare()["slots"][0][0]
            self.assertEqual("product" in entry, there, forward)
            if there:                          # poison: nothing was written
                self.assertFalse(isinstance(entry["product"], float) and entry["product"] <= 1)

    def test_a_mark_changes_with_any_bit(self):
        loaded = Loaded(self.host, self.write(TASK % "a @ b"))
        self.assertTrue(loaded.inputs(3)["ok"])
        first = self.host.call("mark")["mark"]
        self.assertEqual(self.host.call("mark")["mark"], first)
        loaded.shares["outputs"][5] ^= 1
        self.assertNotEqual(self.host.call("mark")["mark"], first)


if __name__ == "__main__":
    unittest.main()
