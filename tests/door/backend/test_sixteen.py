"""Layers and blocks of public networks in bfloat16 through the backend of torch.compile: whole graphs, whose errors against float64 are at
most eager PyTorch's."""
import copy
import os
import pathlib
import shutil
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
os.environ.setdefault("CAWB_PROGRAM", str(ROOT / "build" / "release" / "bin" / "cawb"))
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "tests" / "support")]

import torch                                  # noqa: E402  pylint: disable=wrong-import-position
from torch import nn                          # noqa: E402  pylint: disable=wrong-import-position
from torch.nn import functional as F          # noqa: E402  pylint: disable=wrong-import-position
import cawb                                   # noqa: E402  pylint: disable=wrong-import-position
import compiled_models                        # noqa: E402  pylint: disable=wrong-import-position
from cawb import backend                      # noqa: E402  pylint: disable=wrong-import-position
from cawb.backend import report               # noqa: E402  pylint: disable=wrong-import-position

MOST = 1.1               # times eager's error: sums in another order


class Excited(nn.Module):
    """Squeeze and excitation between convolutions of one tap, on 14 x 14 pixels."""

    def __init__(self):
        super().__init__()
        self.wide, self.narrow, self.norm = nn.Conv2d(40, 160, 1, bias=False), nn.Conv2d(160, 40, 1), nn.BatchNorm2d(160)
        self.each, self.less, self.more = nn.Conv2d(160, 160, 5, padding=2, groups=160), nn.Conv2d(160, 8, 1), nn.Conv2d(8, 160, 1)

    def forward(self, x):
        y = F.silu(self.each(F.silu(self.norm(self.wide(x)))))
        return x + self.narrow(y * self.more(F.silu(self.less(y.mean((2, 3), keepdim=True)))).sigmoid())


class Joined(nn.Module):
    """A part of a concatenation changed in place, behind interpolation."""

    def __init__(self):
        super().__init__()
        self.one = nn.Conv2d(16, 16, 3, padding=1)

    def forward(self, x, y):
        both = torch.cat([F.interpolate(x, scale_factor=2, mode="bilinear"), y], 1)
        both[:, :16] += self.one(y)
        return F.relu_(both)


class Named(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.norm = nn.Embedding(50, 64), nn.LayerNorm(64)

    def forward(self, tokens):
        return self.norm(self.table(tokens))


CASES = {
    "block": lambda: (compiled_models.Block(64, 2, causal=False), [torch.randn(2, 50, 64)]),
    "causal block": lambda: (compiled_models.Block(64, 2), [torch.randn(2, 33, 64)]),
    "residual": lambda: (compiled_models.Residual(32), [torch.randn(2, 32, 14, 14)]),
    "squeeze and excitation": lambda: (Excited(), [torch.randn(1, 40, 14, 14)]),
    "group norm": lambda: (nn.Sequential(nn.GroupNorm(8, 64), nn.SiLU(), nn.Conv2d(64, 64, 3, padding=1)), [torch.randn(1, 64, 14, 14)]),
    "stem": lambda: (nn.Sequential(nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, 2, 1)),
                     [torch.randn(1, 3, 32, 32)]),
    "concatenation": lambda: (Joined(), [torch.randn(1, 16, 6, 6), torch.randn(1, 16, 12, 12)]),
    "embedding": lambda: (Named(), [torch.randint(0, 50, (2, 30))]),
    "softmax": lambda: (nn.Sequential(nn.Linear(96, 300), nn.Softmax(-1)), [torch.randn(8, 96)]),
}


def cast(inputs, dtype):
    return [x.to(dtype) if x.is_floating_point() else x for x in inputs]


def error(found, exact):
    return ((found.double() - exact).square().mean() / exact.square().mean()).sqrt().item()


class Sixteen(unittest.TestCase):
    def setUp(self):
        self.cache = tempfile.mkdtemp(prefix="cawb-sixteen-")
        self.addCleanup(shutil.rmtree, self.cache, ignore_errors=True)

    def is_whole(self, compiled, graphs):
        self.assertEqual([part.why for graph in report.of(backend.owner_of(compiled)) for part in graph.parts], [None] * graphs)

    def run_one(self, make):
        torch.manual_seed(1)
        torch._dynamo.reset()
        module, inputs = make()
        module, inputs = module.eval().to(torch.bfloat16), cast(inputs, torch.bfloat16)
        compiled = cawb.compile(module, device="sim:h100", cache=self.cache, failures=self.cache)
        with torch.no_grad():
            exact, plain = copy.deepcopy(module).double()(*cast(inputs, torch.float64)), module(*inputs)
            found = compiled(*inputs)
        self.is_whole(compiled, 1)
        self.assertEqual(found.dtype, torch.bfloat16)
        self.assertLessEqual(error(found, exact), MOST * error(plain, exact))

    def test_errors_are_at_most_those_of_eager_pytorch(self):
        for name, make in CASES.items():
            with self.subTest(name):
                self.run_one(make)

    def test_gradients_of_attention_are_made_here_and_no_less_accurate(self):
        """The sums that its backward graph reads are float32, as PyTorch's are."""
        torch.manual_seed(1)
        torch._dynamo.reset()
        module = compiled_models.Block(64, 2).to(torch.bfloat16)
        x = torch.randn(2, 33, 64).to(torch.bfloat16)
        compiled, wide = cawb.compile(module, device="sim:h100", cache=self.cache, failures=self.cache), copy.deepcopy(module).double()

        def gradients(run, of, inputs):
            return torch.autograd.grad(run(inputs).square().mean(), list(of.parameters()))
        found, plain, exact = gradients(compiled, module, x), gradients(module, module, x), gradients(wide, wide, x.double())
        self.is_whole(compiled, 2)
        for a, b, truth in zip(found, plain, exact):
            self.assertLessEqual(error(a, truth), 2 * error(b, truth))

    def test_attention_is_trained_here_with_a_mask_and_without(self):
        """Scores are of size 1: rounded to 16 bits, they are too far off for the sums that PyTorch keeps."""
        torch.manual_seed(1)
        for mask in (None, torch.randn(64, 64).to(torch.bfloat16), torch.rand(64, 64) > 0.3):
            with self.subTest(mask=None if mask is None else mask.dtype):
                torch._dynamo.reset()
                given = [torch.randn(1, 2, 64, 64).to(torch.bfloat16).requires_grad_() for _ in range(3)]
                compiled = cawb.compile(torch.nn.functional.scaled_dot_product_attention, device="sim:h100", cache=self.cache, failures=self.cache)
                compiled(*given, attn_mask=mask).square().mean().backward()
                self.is_whole(compiled, 2)

    def test_large_scores_are_trained_nearly_as_accurately(self):
        """Of size 9: rounded to 16 bits, they would be several percent off in their powers. Scales of gradients would leave few bits of float16."""
        torch.manual_seed(1)

        def results(run, inputs):
            made = run(*inputs)
            return [made, *torch.autograd.grad((made.float() * torch.linspace(-1, 1, 32)).square().mean(), inputs)]
        for dtype, size in ((torch.bfloat16, 3), (torch.float16, 1)):
            with self.subTest(dtype):
                torch._dynamo.reset()
                given = [(torch.randn(1, 2, 64, 32) * by).to(dtype).requires_grad_() for by in (size, size, 1)]
                attend = F.scaled_dot_product_attention
                compiled = cawb.compile(attend, device="sim:h100", cache=self.cache, failures=self.cache)
                exact = results(attend, [x.detach().double().requires_grad_() for x in given])
                for a, b, truth in zip(results(compiled, given), results(attend, given), exact):
                    self.assertLessEqual(error(a, truth), 3 * error(b, truth))           # as Dynamo's rule has it
                self.is_whole(compiled, 2)

    def test_autocast_trains_a_layer_norm_here(self):
        """PyTorch traces its statistics in 16 bits on a processor, and makes float32."""
        torch.manual_seed(1)
        torch._dynamo.reset()
        module, x = nn.Sequential(nn.Linear(64, 64), nn.LayerNorm(64), nn.GELU(), nn.Linear(64, 32)), torch.randn(8, 64)
        compiled, wide = cawb.compile(module, device="sim:h100", cache=self.cache, failures=self.cache), copy.deepcopy(module).double()

        def gradients(run, of, given, dtype):
            with torch.autocast("cpu", dtype, enabled=dtype == torch.bfloat16):
                loss = run(given).double().square().mean()
            return torch.autograd.grad(loss, list(of.parameters()))
        found, plain = (gradients(run, module, x, torch.bfloat16) for run in (compiled, module))
        self.is_whole(compiled, 2)
        for a, b, truth in zip(found, plain, gradients(wide, wide, x.double(), torch.float64)):
            self.assertLessEqual(error(a, truth), 2 * error(b, truth))


if __name__ == "__main__":
    unittest.main()
