"""python3 test_promoted.py: the operator against the reference in float64, opcheck, and the way
back to the reference. Without a GPU of the kind it was verified on, the last two only.
"""
import importlib.util
import os
import unittest

import torch

HERE = os.path.dirname(os.path.abspath(__file__))
spec = importlib.util.spec_from_file_location("promoted", os.path.join(HERE, "promoted.py"))
promoted = importlib.util.module_from_spec(spec)
spec.loader.exec_module(promoted)

torch.backends.cuda.matmul.allow_tf32 = False
torch.backends.cudnn.allow_tf32 = False


def tensors(shape, device, change=0):
    made = []
    for dtype, size, _ in shape["tensors"]:
        if change and size:
            size = [size[0] + change] + size[1:]
        kind = getattr(torch, dtype)
        made.append(torch.randn(size, device=device, dtype=kind) if kind.is_floating_point else torch.ones(size, device=device, dtype=kind))
    return made


def verified_gpu():
    return torch.cuda.is_available() and list(torch.cuda.get_device_capability()) == promoted.ABOUT["capability"]


class Operator(unittest.TestCase):
    def check(self, args):
        out = promoted.run(*args)
        out = out if isinstance(out, (tuple, list)) else (out,)
        with torch.no_grad():
            eager = promoted.reference(*args)
            promoted.MODEL.double()
            want = promoted.reference(*[a.double() if a.is_floating_point() else a for a in args])
            promoted.MODEL.float()
        for o, e, w in zip(out, eager, want):
            limit = max(3 * (e.double() - w).abs().max().item(), 7.6e-6 * w.abs().max().item())
            self.assertLessEqual((o.double() - w).abs().max().item(), limit)

    @unittest.skipUnless(verified_gpu(), "no GPU of the kind that it was verified on")
    def test_every_verified_shape(self):
        for shape in promoted.ABOUT["shapes"]:
            with self.subTest(shape=shape["tensors"]):
                args = tensors(shape, "cuda")
                self.assertIsNone(promoted.why_not(*args))
                for _ in range(3):
                    self.check(args)

    @unittest.skipUnless(verified_gpu(), "no GPU of the kind that it was verified on")
    def test_in_a_graph_and_on_another_stream(self):
        args = tensors(promoted.ABOUT["shapes"][0], "cuda")
        promoted.run(*args)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            out = promoted.run(*args)
        graph.replay()
        torch.cuda.synchronize()
        again = promoted.run(*args)
        one, two = (out, again) if isinstance(out, torch.Tensor) else (out[0], again[0])
        self.assertTrue(torch.equal(one, two))

    def test_opcheck(self):
        device = "cuda" if verified_gpu() else "cpu"
        # The same number of elements on a CPU may be too many to trace: the least shape.
        shape = min(promoted.ABOUT["shapes"], key=lambda s: sum(torch.Size(t[1]).numel() for t in s["tensors"]))
        torch.library.opcheck(promoted.run, tensors(shape, device))
        if all(getattr(torch, t[0]).is_floating_point for t in shape["tensors"]):
            torch.library.opcheck(promoted.run, [t.requires_grad_() for t in tensors(shape, device)])

    def test_falls_back_on_an_unverified_shape(self):
        device = "cuda" if verified_gpu() else "cpu"
        if len(promoted.PARAMS) > 0:
            self.skipTest("parameters fix the shapes")
        args = tensors(promoted.ABOUT["shapes"][0], device, change=1)
        try:
            want = promoted.reference(*args)
        except RuntimeError:
            self.skipTest("the reference takes no other first dimension")
        self.assertIsNotNone(promoted.why_not(*args))
        out = promoted.run(*args)
        out = out if isinstance(out, (tuple, list)) else (out,)
        for o, w in zip(out, want):
            self.assertTrue(torch.equal(o, w))

    @unittest.skipUnless(verified_gpu(), "no GPU of the kind that it was verified on")
    def test_falls_back_on_other_strides(self):
        args = tensors(promoted.ABOUT["shapes"][0], "cuda")
        if args[0].dim() < 2:
            self.skipTest("one dimension")
        args[0] = args[0].transpose(0, -1).contiguous().transpose(0, -1)
        self.assertIn("not verified", promoted.why_not(*args))
        self.check(args)


if __name__ == "__main__":
    unittest.main()
