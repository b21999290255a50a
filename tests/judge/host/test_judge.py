"""The judge's kernels, executed by the simulated device, against PyTorch."""
import ctypes
import os
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "support"))

from hostcase import HAVE_TORCH, NATIVE, POISON, ROOT, PACKAGES, task

sys.path.insert(0, os.path.join(ROOT, "tests", "cuda", "gpu"))
LIBRARY, PROGRAM = os.environ.get("CAWB_SIM_LAUNCH"), os.environ.get("CAWB_PROGRAM")
if HAVE_TORCH:
    import torch
    from cawb_host.judge import trials
    from cawb_host.judge.compare import watch
    from cawb_host.judge import workload
    from cawb_host.judge.compare import native
    from cawb_host.judge.compare.gpu import Judge
    from judge_cases import JudgeCases
else:
    Judge = JudgeCases = object


class SimulatedJudge(Judge):
    """Tensors lie in the CPU's memory; each launch takes what it points to along."""

    def load(self, path):
        self.sim, self.taken = ctypes.CDLL(LIBRARY), []
        for name, result in (("open", ctypes.c_char_p), ("run", ctypes.c_char_p),
                             ("tensor", ctypes.c_uint64)):
            getattr(self.sim, "sim_launch_" + name).restype = result
        with open(path, "rb") as file:
            why = self.sim.sim_launch_open(file.read())
        assert why is None, why

    def close(self):
        self.sim.sim_launch_close()

    def address(self, tensor):
        if tensor.numel() == 0:
            return 0
        size = tensor.element_size() * (1 + sum((n - 1) * s for n, s in
                                                zip(tensor.shape, tensor.stride())))
        at = self.sim.sim_launch_tensor(ctypes.c_void_p(tensor.data_ptr()), ctypes.c_size_t(size))
        assert at, "no memory on the simulated device"
        self.taken.append((at, tensor, size))
        return at

    def launch(self, name, blocks, slots, argument):
        why = self.sim.sim_launch_run(name.encode(), blocks, slots, 256, ctypes.byref(argument),
                                      ctypes.c_size_t(ctypes.sizeof(argument)))
        assert why is None, why
        for at, tensor, size in self.taken:
            self.sim.sim_launch_fetch(ctypes.c_void_p(tensor.data_ptr()), ctypes.c_uint64(at),
                                      ctypes.c_size_t(size))
        if name.startswith(("finish", "hash")) or name.endswith("finish"):
            for at, _, _ in self.taken:
                self.sim.sim_launch_forget(ctypes.c_uint64(at))
            self.taken = []


def kernels():
    """The PTX of the kernels, as the program builds it."""
    made = subprocess.run([PROGRAM, os.path.join(ROOT, "tests", "cuda", "gpu", "compile_judge.lua"),
                           "sim:h100"], stdout=subprocess.PIPE, check=True, text=True, cwd=ROOT)
    return made.stdout.split()[0]


needs_all = unittest.skipUnless(HAVE_TORCH and LIBRARY and PROGRAM,
                                "needs PyTorch and the built cawb (ctest)")


@needs_all
class OnSimulator(JudgeCases, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        native.open_library(NATIVE)
        cls.device = torch.device("cpu")
        cls.judge = SimulatedJudge(kernels(), cls.device)

    @classmethod
    def tearDownClass(cls):
        cls.judge.close()


@needs_all
class Lent(unittest.TestCase):
    """A task whose inputs are large enough to be in the share only."""

    TEXT = task("return self.fc(x) * args[1][0]", "[torch.rand(6, 40), [torch.rand(6, 1), 3]]",
                setup="self.fc = nn.Linear(40, 9)")

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="cawb-test-")
        path = os.path.join(self.folder.name, "foo.py")
        with open(path, "w") as file:
            file.write(self.TEXT)
        self.patches = [mock.patch.object(workload, "judge_of", SimulatedJudge),
                        mock.patch.object(workload, "PRIVATE", 0),
                        mock.patch.object(trials, "KEPT_BYTES", 0)]
        for patch in self.patches:
            patch.start()
        self.work = workload.Workload(path, torch.device("cpu"), {}, 7, kernels(), library=NATIVE)

    def tearDown(self):
        self.work.close()
        for patch in self.patches:
            patch.stop()
        self.folder.cleanup()

    def begin(self, seed):
        """The share's tensors, with the right output written."""
        trial = self.work.begin(seed, POISON)
        memory = self.work.inputs_share.memory
        self.inputs = [t for t, _ in trial.leaves()]
        self.assertTrue(all(memory.data_ptr() <= t.data_ptr() < memory.data_ptr() + len(memory)
                            for t in self.inputs))
        self.output = self.work.output(0)
        self.output.copy_(self.work.runner.module.fc(self.inputs[0]).detach() * self.inputs[1])
        return trial

    def assert_right(self, reply, changed=()):
        self.assertEqual(reply["changed"], list(changed))
        entry = reply["outputs"][0]
        self.assertLess(entry["nrms"], 1e-6)
        self.assertEqual(entry["eager"]["worst"], entry["worst"]["error"])

    def test_the_study_sees_what_it_sees_without_kernels(self):
        self.assertEqual((self.work.deterministic, self.work.random, self.work.constant),
                         (True, False, False))

    def test_a_right_output_of_any_seed(self):
        seen = []
        for seed in (1, 2, 1):
            self.begin(seed)
            seen.append([t.clone() for t in self.inputs])
            self.assert_right(self.work.compare(POISON))
            self.assertEqual(len(self.work.trials.kept), 1)
        self.assertTrue(all(map(torch.equal, seen[0], seen[2])))
        self.assertFalse(torch.equal(seen[0][0], seen[1][0]))

    def test_a_changed_input_is_named_and_put_right_before_the_reference_is_made(self):
        self.begin(1)
        before = [t.clone() for t in self.inputs]
        self.inputs[1][3] += 1
        self.assert_right(self.work.compare(POISON), ["inputs[2]"])
        now = [t for t, _ in self.work.current.leaves()]
        self.assertTrue(all(map(torch.equal, before, now)))
        now[0][0, 0] += 1                               # and behind it
        self.assert_right(self.work.compare(POISON), ["inputs[1]"])
        self.assert_right(self.work.compare(POISON))

    def test_a_seed_that_comes_again_finds_its_inputs_right(self):
        self.begin(1)
        before = self.inputs[0].clone()
        self.inputs[0].zero_()
        self.begin(1)
        self.assertTrue(torch.equal(before, self.inputs[0]))
        self.assert_right(self.work.compare(POISON))

    def test_a_changed_parameter_is_put_right(self):
        self.begin(1)
        spec = self.work.params[1]
        self.work.params_share.memory[spec["offset"]] ^= 1
        self.assert_right(self.work.compare(POISON), ["params.fc.bias"])
        self.assert_right(self.work.compare(POISON))

    def test_a_change_between_tensors_is_none_and_is_looked_into_once(self):
        self.begin(1)
        self.work.params_share.memory[self.work.params_size - 1] ^= 1
        self.work.inputs_share.memory[self.work.inputs_size - 1] ^= 1
        self.assert_right(self.work.compare(POISON))
        with mock.patch.object(watch.Shared, "changed_params", side_effect=AssertionError), \
                mock.patch.object(watch.Shared, "changed_inputs", side_effect=AssertionError):
            self.assert_right(self.work.compare(POISON))

    def test_a_trial_that_lost_its_place_makes_its_inputs_again(self):
        first = self.begin(1)
        before = self.inputs[0].clone()
        self.begin(2)
        self.assertTrue(torch.equal(before, first.inputs[0]))
        self.assertLess(first.expected()[0].measure(first.runner.forward(
            first.inputs, 1)[0][1])["nrms"], 1e-6)
        self.assert_right(self.work.compare(POISON))


if __name__ == "__main__":
    unittest.main()
