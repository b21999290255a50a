"""Sixty programs through the backend of torch.compile on the simulated device: values, strides and gradients against eager PyTorch, and
which of them become packages."""
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
import cawb                                   # noqa: E402  pylint: disable=wrong-import-position
import compiled_models                        # noqa: E402  pylint: disable=wrong-import-position
from cawb import backend                      # noqa: E402  pylint: disable=wrong-import-position
from cawb.backend import report               # noqa: E402  pylint: disable=wrong-import-position


class Graphs(unittest.TestCase):
    def setUp(self):
        self.cache = tempfile.mkdtemp(prefix="cawb-graphs-")
        self.addCleanup(shutil.rmtree, self.cache, ignore_errors=True)

    def run_both(self, make, gradients):
        """Compiled results and eager PyTorch's, and the parts that the graphs came to."""
        torch.manual_seed(1)
        torch._dynamo.reset()
        module, inputs = make()
        compiled = cawb.compile(module, device="sim:h100", cache=self.cache, failures=self.cache)
        found, wanted = (compiled_models.results(f, module, inputs, gradients) for f in (compiled, module))
        self.assertEqual(len(found), len(wanted))
        for a, b in zip(found, wanted):
            if b is None:
                self.assertIsNone(a)
                continue
            torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-4)
            self.assertEqual(a.stride(), b.stride())
        return [part for graph in report.of(backend.owner_of(compiled)) for part in graph.parts]

    def test_whole_graphs_with_gradients(self):
        self.assertGreaterEqual(len(compiled_models.WHOLE), 40)
        for name, make in compiled_models.WHOLE.items():
            with self.subTest(name):
                self.assertEqual([part.why for part in self.run_both(make, True)], [None, None])

    def test_whole_graphs_in_evaluation(self):
        for name, make in compiled_models.EVAL.items():
            with self.subTest(name):
                self.assertEqual([part.why for part in self.run_both(make, False)], [None])

    def test_parts_of_graphs(self):
        for name, make in compiled_models.PARTS.items():
            with self.subTest(name):
                self.assertIn(None, [part.why for part in self.run_both(make, True)])


if __name__ == "__main__":
    unittest.main()
