"""A host that loads task after task keeps nothing of earlier ones."""
import gc
import os
import sys
import unittest
import weakref

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "support"))

from hostcase import HAVE_TORCH, Loaded, TaskCase

if HAVE_TORCH:
    import torch
    from cawb_host.base.garbage import Garbage
    from cawb_host.judge.task import sketch

PLAIN = """
    import torch
    batch_size = 4

    class Model(torch.nn.Module):
        def forward(self, x):
            return x * 2

    def get_inputs():
        return [torch.rand(batch_size, 8)]

    def get_init_inputs():
        return []
"""


class Cycle:
    def __init__(self):
        self.me = self


class Memory(TaskCase):
    def test_garbage_goes_with_each_task_and_what_imports_made_is_looked_through_once(self):
        self.addCleanup(gc.unfreeze)
        garbage = Garbage()
        garbage.collect()
        frozen = gc.get_freeze_count()
        self.assertGreater(frozen, 10000)
        seen = weakref.ref(Cycle())
        self.assertIsNotNone(seen())
        garbage.collect()
        self.assertIsNone(seen())
        self.assertLessEqual(gc.get_freeze_count(), frozen)

    def test_an_earlier_task_is_gone_when_another_is_loaded(self):
        self.load(PLAIN)
        path = self.write("import sys\nraise ValueError(sorted(name for name in sys.modules if 'cawb_task' in name))", "other.py")
        self.assertIn("['cawb_task_other']", Loaded(self.host, path).reply["message"])

    def test_sizes_that_are_tried_leave_nothing(self):
        path = self.write(PLAIN)
        def known():
            return len(torch._subclasses.FakeTensorMode.cache)
        before = known()
        for batch in (3, 5, 7):
            sketch.sketch(path, {"batch_size": batch}, 1, torch.device("cpu"))
        self.assertEqual(known(), before)


if __name__ == "__main__":
    unittest.main()
