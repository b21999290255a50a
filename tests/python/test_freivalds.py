"""A product against a secret vector: what it sees of a wrong one, and when there is none."""
import sys
import unittest

from hostcase import HAVE_TORCH, POISON, TASKHOST, Loaded, TaskCase

sys.path.insert(0, TASKHOST)
if HAVE_TORCH:
    import torch
    import freivalds
    from graph import Recorder
    from judge import Readback
    from judged import rows_of_bytes

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


@unittest.skipUnless(HAVE_TORCH, "needs PyTorch")
class Freivalds(TaskCase):
    def product(self, module, inputs):
        """The Product of a module, and its output."""
        recorder = Recorder(module, inputs)
        with torch.no_grad(), recorder:
            output = module(*inputs)
        return freivalds.find(recorder.entries, [output.contiguous()]), output.contiguous()

    def error(self, product, module, inputs, output):
        back = Readback()
        at = product.begin(inputs, module.state_dict(), rows_of_bytes(output), back)
        back.read()
        return back.numbers(at)[0]

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
            # one secret vector may lie badly; every call has another
            self.assertGreater(max(self.error(product, module, inputs, wrong) for _ in range(4)), 1e-5)
        right[3, 3] = float("nan")
        self.assertFalse(self.error(product, module, inputs, right) <= 1)

    def test_other_tasks_have_none(self):
        inputs = [torch.randn(9, 40), torch.randn(40, 5)]
        for forward in (lambda a, b: torch.relu(a @ b), lambda a, b: (a + 1) @ b,
                        lambda a, b: torch.addmm(torch.ones(5), a, b, alpha=2), torch.add):
            args = inputs if forward is not torch.add else [inputs[0], inputs[0]]
            self.assertIsNone(self.product(self.module(forward), args)[0])

    def test_blocks_of_rows_add_nothing(self):
        was, matrix = freivalds.BLOCK, torch.randn(3, 70, 40)
        whole = freivalds.times(matrix, torch.ones(40, dtype=torch.float64))
        try:
            freivalds.BLOCK = 900
            parts = freivalds.times(matrix, torch.ones(40, dtype=torch.float64))
        finally:
            freivalds.BLOCK = was
        self.assertLess(float((whole - parts).abs().max()), 1e-12)

    def test_each_slot_has_its_error(self):
        for forward, there in (("a @ b", True), ("(b.t() @ a.t())", True), ("torch.relu(a @ b)", False)):
            loaded = Loaded(self.host, self.write(TASK % forward))
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
