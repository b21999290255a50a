"""bench/door/opinfo.py: samples of some of PyTorch's operators are right under the backend of torch.compile, and a wrong kernel is seen."""
import importlib.util
import os
import pathlib
import random
import sys
import unittest
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
os.environ.setdefault("CAWB_PROGRAM", str(ROOT / "build" / "release" / "bin" / "cawb"))
sys.path.insert(0, str(ROOT / "python"))

from cawb.backend import simulated            # noqa: E402  pylint: disable=wrong-import-position

spec = importlib.util.spec_from_file_location("opinfo", ROOT / "bench" / "door" / "opinfo.py")
opinfo = importlib.util.module_from_spec(spec)
spec.loader.exec_module(opinfo)

SEED, COUNT = 4, 10                          # of operators that are drawn


def rows(operator, count):
    found = [opinfo.row_of(opinfo.Program(operator, sample), "sim:h100") for _, sample in opinfo.drawn(operator, count, 1)]
    return [one for one in found if one]


class Samples(unittest.TestCase):
    def test_drawn_operators(self):
        elementwise = [o for o in opinfo.op_db if type(o).__name__ in ("UnaryUfuncInfo", "BinaryUfuncInfo", "ReductionOpInfo") and o.supports_autograd]
        reached = set()
        for operator in random.Random(SEED).sample(elementwise, COUNT):
            with self.subTest(operator.name):
                for row in rows(operator, 1):
                    self.assertIn(row["state"], ("right", "fell", "nothing"), row)
                    reached.update(row["reached"])
        self.assertGreater(len(reached), COUNT)

    def test_a_wrong_kernel_is_seen(self):
        operator, right = next(o for o in opinfo.op_db if o.name == "sigmoid"), simulated.Simulated.run
        with mock.patch.object(simulated.Simulated, "run", lambda *given: [made * 1.01 for made in right(*given)]):
            self.assertIn("wrong", [row["state"] for row in rows(operator, 3)])


if __name__ == "__main__":
    unittest.main()
