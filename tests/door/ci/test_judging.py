"""cawb.judge: verdicts about CUDA on the simulated device, and about Python in a jail on the processor."""
import os
import subprocess
import sys
import unittest

import torch

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "support"))

from serving import CAWB, ROOT  # noqa: E402  pylint: disable=wrong-import-position

sys.path.insert(0, os.path.join(ROOT, "python"))
import cawb  # noqa: E402  pylint: disable=wrong-import-position
from cawb.ci import written  # noqa: E402  pylint: disable=wrong-import-position
from sent import Package  # noqa: E402  pylint: disable=wrong-import-position

SOFTMAX = """extern "C" __global__ void softmax(float *y, const float *x, int rows, int cols) {
  const int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float top = -INFINITY, sum = 0;
  for (int c = 0; c < cols; c++) top = fmaxf(top, x[r * cols + c]);
  for (int c = 0; c < cols; c++) sum += expf(x[r * cols + c] - top);
  for (int c = 0; c < cols; c++) y[r * cols + c] = expf(x[r * cols + c] - top) / sum;
}
"""
PLAN = 'local x = inputs[1]\nlaunch("softmax", { grid = (x.shape[1] + 63) // 64, block = 64 }, outputs[1], x, x.shape[1], x.shape[2])\n'


def setUpModule():
    global package, ops
    package = Package()
    ops = package.rows


def tearDownModule():
    package.remove()


def inputs(seed):
    torch.manual_seed(seed)
    return [torch.randn(8, 40)]


@unittest.skipUnless(CAWB, "CAWB_PROGRAM is not set")
class Verdicts(unittest.TestCase):
    few = {"verify.trials": 1, "verify.battery": "mixed,outlier", "confirm.enabled": False, "sweep.variants": 1}

    def judged(self, reference, kernel, examples, **more):
        return cawb.judge(reference, kernel, examples, device="sim:h100", options=self.few, **more)

    def test_cuda_on_the_simulated_device(self):
        found = self.judged(ops.softmax, cawb.Kernel(SOFTMAX, PLAN), [torch.randn(8, 40)])
        self.assertTrue(found and found.ok and found.modelled)
        self.assertEqual(found.verdict, "right")
        self.assertLess(found.errors["rms"], 1e-6)
        self.assertLess(found.times["eager"], 1e-3)
        self.assertAlmostEqual(found.speedup, min(found.times["eager"], found.times["compile"]) / found.times["candidate"], delta=0.01)
        self.assertIn(found.sentence, str(found))
        self.assertNotIn("recorded", str(found))
        self.assertNotIn("cawb-", str(found))                   # no name of a folder that is gone

    def test_wrong_cuda_says_why(self):
        found = self.judged(ops.softmax, cawb.Kernel(SOFTMAX.replace("/ sum", "/ (sum + 1)"), PLAN), [torch.randn(8, 40)])     # with any inputs
        self.assertFalse(found)
        self.assertEqual(found.verdict, "wrong")
        self.assertIn("outputs[1]", found.reasons[0])
        self.assertIn(found.reasons[0], str(found))

    def test_python_with_its_files_in_a_jail(self):
        found = self.judged(ops.softmax, ops.fast, "%s:inputs" % __name__)
        self.assertEqual((found.verdict, found.device, found.modelled), ("right", "cpu", False), str(found))
        self.assertIn("on the processor", found.sentence)
        found = self.judged(ops.softmax, ops.forgets, [torch.randn(8, 40)])
        self.assertEqual(found.verdict, "wrong")

    def test_a_module_with_its_weights(self):
        found = self.judged(ops.Scaled, ops.Clamped, [torch.randn(3, 8)], init={"width": 8, "bias": False})
        self.assertEqual(found.verdict, "right", str(found))
        self.assertEqual(self.judged(ops.standing, ops.standing, [torch.randn(3, 8)]).verdict, "right")

    def test_what_torch_compile_made_passes_and_under_strict_rules_it_does_not(self):
        self.assertEqual(self.judged(ops.softmax, ops.compiled, [torch.randn(8, 40)]).verdict, "right")
        found = self.judged(ops.softmax, ops.compiled, [torch.randn(8, 40)], rules="strict")
        self.assertIn("torch._inductor", found.reasons[0])

    def test_an_extension_is_built_from_the_sources_that_its_module_names(self):
        found = self.judged("ops.native:double", "ops.native:twice", [torch.randn(8, 40)])
        self.assertEqual(found.verdict, "right", str(found))

    def test_a_reference_that_fails_is_no_verdict(self):
        with self.assertRaisesRegex(cawb.Failed, "^ops.rows:softmax: "):
            self.judged(ops.softmax, ops.fast, ["text"])

    def test_a_script_that_is_imported_again_does_not_begin_again(self):
        script = os.path.join(package.folder, "script.py")
        written.write(script, "import torch, cawb\ndef twice(x):\n    return x + x\nprint(cawb.judge(twice, twice, [torch.ones(3)], device='cpu'))\n")
        done = subprocess.run([sys.executable, script], env={**os.environ, "PYTHONPATH": os.path.join(ROOT, "python")}, cwd=package.folder,
                              capture_output=True, text=True, check=False)
        self.assertIn('Put the call below `if __name__ == "__main__":`', done.stderr)

    def test_time_that_is_up_is_a_failure(self):
        with self.assertRaisesRegex(cawb.Failed, "longer than 0.01 s"):
            self.judged(ops.softmax, ops.fast, [torch.randn(8, 40)], timeout=0.01)


if __name__ == "__main__":
    unittest.main()
