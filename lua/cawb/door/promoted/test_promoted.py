"""python3 test_promoted.py: the operator against the reference in float64, opcheck, the module in the reference's place, and the
way back to the reference. Without a GPU of the kind it was verified on, the last three only.
"""
import importlib.util
import json
import os
import sys
import unittest

import torch

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path = [p for p in sys.path if os.path.abspath(p or ".") != HERE]
with open(os.path.join(HERE, "promoted.json")) as _file:
    _package = json.load(_file)["package"]
_spec = importlib.util.spec_from_file_location(_package, os.path.join(HERE, "__init__.py"), submodule_search_locations=[HERE])
promoted = sys.modules[_package] = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(promoted)

torch.backends.cuda.matmul.allow_tf32 = False
torch.backends.cudnn.allow_tf32 = False
SHAPES = promoted.ABOUT["shapes"]


# Parameters that have no negative number, such as variances, keep none.
STATE = dict(promoted.MODEL.state_dict(keep_vars=True))
NOT_NEGATIVE = [name in STATE and STATE[name].numel() > 0 and bool((STATE[name] >= 0).all()) for name in promoted.PARAMS]


def tensors(shape, device, change=0):
    made = []
    for (dtype, size, strides), never in zip(shape["tensors"], [False] * len(promoted.ABOUT["inputs"]) + NOT_NEGATIVE):
        if change and size:
            size, strides = [size[0] + change] + size[1:], None
        kind = getattr(torch, dtype)
        drawn = torch.randn(size, device=device)
        one = (drawn.abs() + 0.1 if never else drawn).to(kind) if kind.is_floating_point else torch.ones(size, device=device, dtype=kind)
        made.append(torch.empty_strided(size, strides, dtype=kind, device=device).copy_(one) if strides else one)
    return made


def verified_gpu():
    return torch.cuda.is_available() and list(torch.cuda.get_device_capability()) == promoted.ABOUT["capability"]


def device():
    return "cuda" if verified_gpu() else "cpu"


def listed(out):
    return list(out) if isinstance(out, (tuple, list)) else [out]


class Operator(unittest.TestCase):
    def setUp(self):
        self.addCleanup(promoted.otherwise, promoted.otherwise("reference") and promoted.ABOUT["otherwise"])

    def check(self, args):
        out = listed(promoted.run(*args))
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
        for shape in SHAPES:
            with self.subTest(shape=shape["tensors"]):
                args = tensors(shape, "cuda")
                self.assertIsNone(promoted.why_not(*args))
                own = args[len(promoted.ABOUT["inputs"]):]
                for _ in range(3):       # other inputs each time, what the parameters alone make once
                    self.check(args)
                    args = tensors(shape, "cuda")[:len(promoted.ABOUT["inputs"])] + own

    @unittest.skipUnless(verified_gpu(), "no GPU of the kind that it was verified on")
    def test_changed_parameters_count_at_once(self):
        args = tensors(SHAPES[0], "cuda")
        promoted.run(*args)
        for parameter in args[len(promoted.ABOUT["inputs"]):]:
            if parameter.is_floating_point():
                parameter.mul_(1.5 if bool((parameter >= 0).all()) else -1.5)
        self.check(args)

    @unittest.skipUnless(verified_gpu(), "no GPU of the kind that it was verified on")
    def test_in_a_graph_and_on_another_stream(self):
        args = tensors(SHAPES[0], "cuda")
        promoted.run(*args)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            out = promoted.run(*args)
        graph.replay()
        torch.cuda.synchronize()
        again = promoted.run(*args)
        self.assertTrue(torch.equal(listed(out)[0], listed(again)[0]))

    @unittest.skipUnless(verified_gpu(), "no GPU of the kind that it was verified on")
    def test_falls_back_on_other_strides(self):
        args = tensors(SHAPES[0], "cuda")
        if args[0].dim() < 2 or min(args[0].shape) < 2:
            self.skipTest("one dimension")
        args[0] = args[0].transpose(0, -1).contiguous().transpose(0, -1)
        self.assertIn("not verified", promoted.why_not(*args))
        self.check(args)

    def test_opcheck(self):
        # The same number of elements on a CPU may be too many to trace: the least shape.
        shape = min(SHAPES, key=lambda s: sum(torch.Size(t[1]).numel() for t in s["tensors"]))
        torch.library.opcheck(promoted.run, tensors(shape, device()))
        if all(getattr(torch, t[0]).is_floating_point for t in shape["tensors"]):
            torch.library.opcheck(promoted.run, [t.requires_grad_() for t in tensors(shape, device())])

    def test_falls_back_on_an_unverified_shape_or_refuses(self):
        if len(promoted.PARAMS) > 0:
            self.skipTest("parameters fix the shapes")
        largest = max(s["tensors"][0][1][:1] or [0] for s in SHAPES)
        args = tensors(SHAPES[0], device(), change=largest[0] if largest else 1)
        try:
            want = promoted.reference(*args)
        except RuntimeError:
            self.skipTest("the reference takes no other first dimension")
        self.assertIsNotNone(promoted.why_not(*args))
        for o, w in zip(listed(promoted.run(*args)), want):
            self.assertTrue(torch.equal(o, w))
        promoted.otherwise("refuse")
        with self.assertRaisesRegex(RuntimeError, "not verified"):
            promoted.run(*args)

    def test_the_module_in_the_place_of_the_references(self):
        args, kwargs = promoted.module.INITIAL
        model, base = promoted.Module(*args, **kwargs), promoted.MODEL
        self.assertIsInstance(model, type(base))
        self.assertEqual(list(model.state_dict()), list(base.state_dict()))
        model.load_state_dict(base.state_dict())
        inputs = tensors(SHAPES[0], "cpu")[:len(promoted.ABOUT["inputs"])]
        with torch.no_grad():
            want = listed(base(*inputs) if not promoted.module.KEYWORDS else base(**dict(zip(promoted.module.KEYWORDS, inputs))))
            out = listed(model(*inputs))
        for o, w in zip(out, want):
            torch.testing.assert_close(o, w)


if __name__ == "__main__":
    unittest.main()
