"""What is made of a trace of a baseline's calls; CUPTI's part is for a GPU."""
import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "support"))

from hostcase import HAVE_TORCH, Host, Loaded, task

if HAVE_TORCH:
    from cawb_host.judge.time import kernels


def event(name, begins, lasts, cat="kernel"):
    return {"name": name, "ts": begins, "dur": lasts, "cat": cat, "args": {"grid": [4, 2, 1], "block": [128, 1, 1]}}


@unittest.skipUnless(HAVE_TORCH, "PyTorch is missing")
class Kernels(unittest.TestCase):
    def test_calls_begin_behind_a_spin_and_medians_are_of_the_usual_ones(self):
        events = [event("left over", 1, 1), {"name": "cudaLaunchKernel", "ts": 2, "dur": 1, "cat": "cuda_runtime"}]
        for number, lasts in enumerate((5, 7, 6)):
            at = 100 * (number + 1)
            events += [event("void spin_kernel(long)", at, 9), event("b", at + 30, 2), event("a", at + 10, lasts)]
        events += [event("spin_kernel", 500, 9), event("a", 510, 99)]       # a call that started less
        first, second = kernels.medians(kernels.in_calls(events))
        self.assertEqual((first["name"], second["name"]), ("a", "b"))
        self.assertAlmostEqual(first["seconds"], 6e-6)
        self.assertAlmostEqual(second["begins"], 20e-6)
        self.assertEqual((first["blocks"], first["threads"]), (8, 128))

    def test_copies_have_no_grid_and_nothing_is_nothing(self):
        copy = {"name": "Memcpy DtoD", "ts": 20, "dur": 1, "cat": "gpu_memcpy"}
        self.assertEqual(kernels.medians(kernels.in_calls([event("spin_kernel", 1, 9), copy]))[0]["blocks"], 1)
        self.assertEqual(kernels.medians([]), [])

    def test_on_a_processor_there_are_none(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "task.py")
            with open(path, "w", encoding="utf-8") as file:
                file.write(task("return x + 1", "[torch.randn(4)]"))
            host = Host()
            loaded = Loaded(host, path)
            self.assertTrue(loaded.reply["ok"], loaded.reply)
            reply = host.call("kernels", kind="compile", calls=2, seed=1)
            self.assertFalse(reply["ok"])
            self.assertIn("on a GPU only", reply["message"])
            host.close()


if __name__ == "__main__":
    unittest.main()
