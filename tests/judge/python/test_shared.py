"""Kernels that run on a GPU while nobody's turn is: whether there are any, and whether they end with the candidate. The GPU
is made up: its kernels take as long as a list says, by a clock that goes with them."""
import sys
import unittest
from unittest import mock
import os

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "support"))

from hostcase import PACKAGES, HAVE_TORCH

if HAVE_TORCH:
    import torch
    from cawb_host.judge.candidate import python_candidate
    from cawb_host.judge.candidate.turns import Gone


class Work:
    def __init__(self, *took):
        self.now, self.took = 0.0, list(took)
        self.device, self.poisoned = torch.device("cuda"), torch.zeros(4, dtype=torch.int32)

    def settle(self):
        self.now += self.took.pop(0) if len(self.took) > 1 else self.took[0]

    def ask(self, question):
        with mock.patch.object(python_candidate.time, "perf_counter", lambda: self.now):
            return question(self)


@unittest.skipUnless(HAVE_TORCH, "no PyTorch")
class Shared(unittest.TestCase):
    def test_short_kernels_that_are_held_up_all_the_time_accuse_somebody(self):
        with self.assertRaises(Gone) as caught:
            Work(0.0006).ask(python_candidate.busy)
        self.assertEqual(caught.exception.name, "busy")
        self.assertIn("600 us", caught.exception.message)
        Work(0.0006, 0.002, 0.00001).ask(python_candidate.busy)

    def test_nobody_is_seen_where_all_are_short_for_a_while(self):
        work = Work(0.00002)
        self.assertEqual(work.ask(python_candidate.shared), 0)
        self.assertGreaterEqual(work.now, python_candidate.WATCHED)

    def test_one_burst_of_somebody_elses_is_enough(self):
        self.assertAlmostEqual(Work(*[0.00002] * 500, 0.0007, 0.00002).ask(python_candidate.shared), 0.0007, 9)

    def test_a_processor_is_not_asked(self):
        work = Work(1.0)
        work.device = torch.device("cpu")
        work.ask(python_candidate.busy)
        self.assertEqual(work.ask(python_candidate.shared), 0)


if __name__ == "__main__":
    unittest.main()
