"""What is kept per seed: where kinds of inputs are drawn."""
import os
import sys
import tempfile
import types
import unittest
from unittest import mock

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "support"))

from hostcase import PACKAGES, HAVE_TORCH, NATIVE

if HAVE_TORCH:
    import torch
    from cawb_host.judge import trials
    from cawb_host.judge.workload import Workload

TASK = """
import torch
class Model(torch.nn.Module):
    def forward(self, x, i):
        return x * 2 + i.sum()
def get_inputs():
    return [torch.rand(6, 40), torch.arange(5)]
def get_init_inputs():
    return []
"""


def on_gpu(*shape):
    """What a tensor on a GPU says of itself."""
    made = torch.empty(shape)
    return types.SimpleNamespace(is_cuda=True, is_contiguous=made.is_contiguous, numel=made.numel)


@unittest.skipUnless(HAVE_TORCH, "needs PyTorch")
class Draws(unittest.TestCase):
    def test_what_is_drawn_on_the_processor_lies_as_the_task_s_own(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "task.py")
            with open(path, "w", encoding="utf-8") as file:
                file.write(TASK)
            work = Workload(path, torch.device("cpu"), {}, 1, library=NATIVE)
        own = work.trials.get(7, "mixed")
        work.trials.drop(own)
        with mock.patch.object(trials.Trial, "few", lambda self, inputs: True):
            drawn = work.trials.get(7, "mixed")
        work.close()
        self.assertEqual(repr(drawn.specs), repr(own.specs))
        for made, other in zip(drawn.inputs, own.inputs):
            self.assertTrue(torch.equal(made, other))

    def test_it_is_where_a_gpu_has_few_of_them_without_gaps(self):
        def few(*inputs):
            with mock.patch.object(trials, "mapped", lambda items, change: [change(t) for t in items]):
                return trials.Trial.few(None, inputs)
        self.assertTrue(few(on_gpu(64, 1024), on_gpu(7)))
        self.assertFalse(few(on_gpu(64, 1024), on_gpu(1024, 1024)))
        self.assertFalse(few(torch.rand(4)))
        gaps = on_gpu(4)
        gaps.is_contiguous = lambda: False
        self.assertFalse(few(gaps))


if __name__ == "__main__":
    unittest.main()
