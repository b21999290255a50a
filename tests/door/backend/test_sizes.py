"""The backend of torch.compile, where one graph has many sizes, draws random numbers, or has been compiled before."""
import importlib
import json
import logging
import os
import pathlib
import sys
import threading
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))

import torch                                  # noqa: E402  pylint: disable=wrong-import-position
from backendcase import Folder                # noqa: E402  pylint: disable=wrong-import-position
import cawb                                   # noqa: E402  pylint: disable=wrong-import-position
from cawb import backend                      # noqa: E402  pylint: disable=wrong-import-position
from cawb.backend import devices, fallback, lowering, packages, recording, simulated, sizes      # noqa: E402  pylint: disable=wrong-import-position
from torch._subclasses.fake_tensor import FakeTensorMode      # noqa: E402  pylint: disable=wrong-import-position
from torch.fx.experimental.proxy_tensor import make_fx        # noqa: E402  pylint: disable=wrong-import-position


def softmax(x):
    return x.softmax(-1)


def settled():
    """When all packages that were begun are made."""
    packages.maker().submit(lambda: None).result()


class Sizes(Folder):
    def tearDown(self):
        settled()                                     # ahead of the folder's end

    def test_others_than_the_first_are_compiled_while_the_program_goes_on(self):
        compiled, held, right = self.compiled(softmax), threading.Event(), packages.get
        self.near(compiled(torch.ones(2, 9)), softmax(torch.ones(2, 9)))

        def late(*given):
            held.wait()
            return right(*given)
        x = torch.randn(3, 9, requires_grad=True)
        with mock.patch.object(packages, "get", late), mock.patch.object(simulated.Simulated, "run", side_effect=AssertionError("too early")):
            self.near(compiled(x), softmax(x))
            held.set()
            settled()
        made = simulated.Simulated.run
        with mock.patch.object(simulated.Simulated, "run", autospec=True, side_effect=made) as run:
            y = compiled(x)
            y.square().sum().backward()
            self.assertEqual(run.call_count, 2)
        plain = x.detach().requires_grad_()
        softmax(plain).square().sum().backward()
        self.near([y, x.grad], [softmax(x), plain.grad])

    def test_a_graph_that_was_cut_is_cut_at_further_sizes_too(self):
        def program(x):
            return torch.linalg.inv(x.exp() @ x.t() + 9 * torch.eye(4)).relu() + 1
        compiled = self.compiled(program)
        with torch.no_grad():
            for n in (5, 6, 6):
                x = torch.rand(4, n)
                self.near(compiled(x), program(x))
                settled()
        self.assertEqual([part.runs() for part in self.parts(compiled)], ["cawb"] * 4)

    def test_more_than_are_wanted(self):
        compiled = self.compiled(softmax, sizes=2)
        with self.assertLogs("cawb", logging.WARNING) as logs:
            for rows in (2, 3, 4, 3, 5):
                x = torch.randn(rows, 9)
                self.near(compiled(x), softmax(x))
                settled()
        self.assertEqual(len(self.parts(compiled)), 3)
        self.assertIn("more than 2 sizes", logs.output[0])

    def test_inductor_stands_in(self):
        compiled, asked = self.compiled(softmax, fallback="inductor"), []

        def stand_in(module, example):
            asked.append(any(map(sizes.is_symbolic, example)))
            return module
        with mock.patch.object(importlib.import_module("torch._inductor.compile_fx"), "compile_fx", stand_in):
            for rows in (2, 3, 4):
                self.near(compiled(torch.ones(rows, 9)), softmax(torch.ones(rows, 9)))
        self.assertEqual(asked, [True])

    def test_a_size_that_cannot_be_compiled_keeps_the_fallback(self):
        compiled = self.compiled(softmax)
        compiled(torch.ones(2, 9))
        with mock.patch.object(packages, "get", side_effect=recording.Refused("planted")):
            compiled(torch.ones(3, 9))
            settled()
        self.near(compiled(torch.ones(3, 9)), softmax(torch.ones(3, 9)))
        self.assertEqual([part.why for part in self.parts(compiled)], [None, "planted"])

    def test_a_float_beside_sizes(self):
        """Dynamo makes an argument of a float, be it the program's or one that a layer has."""
        norm = torch.nn.LayerNorm(9, eps=0.1)

        def program(x, scale):
            return norm(x) * scale + x / scale
        compiled = cawb.compile(program, device="sim:h100", cache=self.folder)
        for rows, scale in ((2, 0.5), (3, 0.25), (3, 4.0), (4, 0.0), (4, -0.0), (2, 0.5)):
            with self.assertNoLogs("cawb"):
                for _ in range(2):
                    x = torch.randn(rows, 9)
                    self.near(compiled(x, scale), program(x, scale))
                    settled()
        self.assertEqual({part.runs() for part in self.parts(compiled)}, {"cawb"})

    @unittest.skipUnless(fallback.RESTART, "PyTorch before 2.6 does not begin again")
    def test_dynamo_begins_again_with_a_number_that_inductor_needs(self):
        with mock.patch.object(importlib.import_module("torch._inductor.compile_fx"), "compile_fx", side_effect=fallback.RESTART), \
                self.assertRaises(fallback.RESTART):
            fallback.symbolic(make_fx(softmax)(torch.ones(2, 2)), [torch.ones(2, 2)])

    def test_other_threads_go_on_while_a_size_is_traced(self):
        model, x, asked, seen = torch.nn.Linear(9, 4), torch.randn(2, 9), [], []
        other = self.compiled(model)
        other(x)

        def fake(given):
            if compiled.warm:
                asked.append(threading.Thread(target=lambda: seen.append(other(x).detach())))
                asked[-1].start()
                asked[-1].join()
            return torch.empty_like(given)
        torch.library.custom_op("cawb_test::meanwhile", torch.clone, mutates_args=(), schema="(Tensor x) -> Tensor").register_fake(fake)
        compiled = self.compiled(lambda x: torch.ops.cawb_test.meanwhile(x) * 2)
        with torch.no_grad():
            for rows in (2, 3, 4):
                compiled.warm = rows > 2                     # PyTorch itself allows no other call in the first one
                self.near(compiled(torch.ones(rows, 9)), torch.full((rows, 9), 2.0))
        self.assertGreater(len(asked), 0)
        self.near(seen, [model(x).detach()] * len(asked))

    def test_threads_that_begin_one_size_trace_it_once(self):
        both, traced = threading.Barrier(2), []
        many = sizes.Sizes(make_fx(softmax)(torch.ones(2, 2)), lambda module, args: traced.append(args) or (module, ()), None, 8)

        class Slow(dict):
            def get(self, key, default=None):
                found = super().get(key, default)
                both.wait(60)
                return found
        many.made = Slow()
        threads = [threading.Thread(target=many, args=(torch.ones(3, 2),)) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(traced), 1)

    def test_a_size_that_cannot_be_traced_runs_by_the_fallback(self):
        compiled = self.compiled(softmax)
        compiled(torch.ones(2, 9))
        with mock.patch.object(backend, "sized", side_effect=AssertionError("planted\nand more")), self.assertLogs("cawb", logging.WARNING) as logs:
            for _ in range(2):
                self.near(compiled(torch.ones(3, 9)), softmax(torch.ones(3, 9)))
        self.assertRegex(logs.output[0], "runs without kernels of cawb: AssertionError: planted$")
        self.assertEqual(len(logs.output), 1)


class Devices(unittest.TestCase):
    """Tensors without data stand for a GPU's."""

    def recorded(self, program, *args):
        return recording.record(make_fx(program)(*args), list(args))

    def test_several_devices(self):
        with FakeTensorMode():
            there, here = torch.empty(4, 4, device="cuda"), torch.empty(())
            self.assertEqual(len(self.recorded(lambda x: (x * 2,), there).made), 1)
            with self.assertRaisesRegex(recording.Refused, "its arguments are on several devices: cpu, cuda:0"):
                self.recorded(lambda x, y: (x * y,), there, here)
            with self.assertRaisesRegex(recording.Refused, "a result is on another device: cpu"):
                self.recorded(lambda x: (x.exp().cpu(),), there)


class Random(Folder):
    def test_dropout_draws_apart_and_the_rest_is_one_package(self):
        model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Dropout(0.5), torch.nn.GELU(), torch.nn.Dropout(0.1), torch.nn.Linear(8, 8))
        compiled, x, found = self.compiled(model), torch.randn(4, 8), []
        for run in (compiled, model, compiled):
            torch.manual_seed(5)
            y = run(x)
            found.append([y, *torch.autograd.grad(y.square().sum(), list(model.parameters()))])
        self.near(found[0], found[1])
        self.near(found[2], found[1])
        self.assertEqual([part.runs() for part in self.parts(compiled)], ["cawb", "cawb"])
        self.assertFalse(torch.equal(compiled(x), compiled(x)))

    def test_numbers_are_drawn_in_the_order_of_memory(self):
        model = torch.nn.Dropout(0.5)

        def program(x):
            return model(x.transpose(0, 1) + 1)
        compiled, x, found = self.compiled(program), torch.randn(3, 4, 5), []
        for run in (compiled, program):
            torch.manual_seed(5)
            found.append(run(x))
        self.near(*found)
        self.assertEqual(found[0].stride(), found[1].stride())

    def test_numbers_that_are_drawn_again_in_the_backward(self):
        model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Dropout(0.2), torch.nn.Tanh())

        def program(x):
            return torch.utils.checkpoint.checkpoint(model, x, use_reentrant=False)
        compiled, x, found = self.compiled(program), torch.randn(4, 4), []
        for run in (compiled, program):
            torch.manual_seed(5)
            y = run(x)
            found.append([y, *torch.autograd.grad(y.square().sum(), list(model.parameters()))])
        self.near(*found)
        self.assertEqual({part.runs() for part in self.parts(compiled)}, {"cawb"})

    def test_numbers_like_a_tensor(self):
        def program(x):
            return torch.where(torch.rand_like(x.exp()) < 0.5, x, torch.bernoulli(x.sigmoid() * 0 + 1)) + torch.randn_like(x) * 0
        compiled, x = self.compiled(program), torch.randn(6, 5)
        torch.manual_seed(3)
        found = compiled(x)
        torch.manual_seed(3)
        self.near(found, program(x))


class Kept(Folder):
    def test_a_backward_knows_parameters(self):
        seen, right = [], packages.get

        def noted(recorded, *given):
            seen.append(len(recorded.request["params"]))
            return right(recorded, *given)
        model = torch.nn.Sequential(torch.nn.Linear(6, 12), torch.nn.GELU(), torch.nn.Linear(12, 3))
        compiled, x = self.compiled(model), torch.randn(4, 6, requires_grad=True)
        for _ in range(2):
            with mock.patch.object(packages, "get", noted):
                found = torch.autograd.grad(compiled(x).sum(), [x])
            self.near(found, torch.autograd.grad(model(x).sum(), [x]))
            with torch.no_grad():
                model[0].weight.mul_(2)
        self.assertEqual(seen, [4, 2])                # the weights, of which the backward needs no bias

    def test_refusals_are_kept(self):
        compiled, asked, right = self.compiled(torch.linalg.inv), [], lowering.ask
        x = torch.eye(4)

        def noted(device, request):
            asked.append(request["op"])
            return right(device, request)
        for _ in range(2):
            torch._dynamo.reset()
            with mock.patch.object(lowering, "ask", noted):
                self.near(compiled(x), x)
        self.assertEqual(asked.count("lower"), 1)

    def test_a_package_is_of_one_chip_and_one_compiler(self):
        folder, one = os.path.join(self.folder, "packages"), devices.Chip("sim:h100", 132, 80 << 30, 0, "a GPU")
        request = {"graph": [1, 2]}
        keys = {packages.key_of(request, chip) for chip in (one, devices.Chip("sim:h100", 132, 140 << 30, 0, "another"),
                                                            devices.Chip("sim:h100", 114, 80 << 30, 0, "a GPU"))}
        self.assertEqual(len(keys), 3)
        self.assertEqual(packages.key_of(request, one), packages.key_of(request, devices.Chip("sim:h100", 132, 80 << 30, 1, "a GPU")))
        with mock.patch.object(packages, "compiler", lambda: "another"):
            self.assertNotIn(packages.key_of(request, one), keys)
        os.makedirs(folder)
        (pathlib.Path(folder) / "package.json").write_text(json.dumps({"export": {"call": []}}))
        kept = packages.Package(folder, True)
        self.assertIsNone(kept.note("times"))
        self.assertEqual((kept.note("times", [1.5]), packages.Package(folder, True).note("times")), ([1.5], [1.5]))
        with mock.patch.object(packages, "written", side_effect=PermissionError("planted")):
            self.assertEqual((kept.note("times", [2.5]), kept.note("times")), ([2.5], [1.5]))

    def test_a_cache_that_takes_no_files(self):
        file = os.path.join(self.folder, "file")
        pathlib.Path(file).touch()
        for program in (torch.tanh, torch.linalg.inv):
            with self.assertLogs("cawb", logging.WARNING) as logs:
                compiled = self.compiled(program, cache=file)
                self.near(compiled(torch.eye(4)), program(torch.eye(4)))
            self.assertIn("the folder of the option `cache` takes no files", logs.output[0])
            fallback.said.clear()
            self.assertEqual({part.runs() for part in self.parts(compiled)}, {"cawb"} if program is torch.tanh else set())

    def test_a_disk_that_is_full_keeps_no_parts(self):
        for name, planted in (("fdopen", OSError("planted")), ("replace", OSError("planted"))):
            with mock.patch.object(os, name, side_effect=planted), self.assertRaisesRegex(OSError, "planted"):
                packages.written(os.path.join(self.folder, "file"), b"data")
        self.assertEqual(os.listdir(self.folder), [])

    def compiled_once(self, program, **options):
        compiled = self.compiled(program, **options)
        compiled(torch.eye(4))
        return compiled

    def test_a_package_that_was_cut_short_is_made_again(self):
        self.compiled_once(torch.tanh)
        about, = pathlib.Path(self.folder, "packages").glob("*/package.json")
        for text in ("", "{}"):
            about.write_text(text)
            torch._dynamo.reset()
            self.assertEqual([part.hit for part in self.parts(self.compiled_once(torch.tanh))], [False])


if __name__ == "__main__":
    unittest.main()
