"""How the backend of torch.compile compares the first results of kernels; what interrupts it, and what surrounds it and is wrong."""
import logging
import operator
import os
import pathlib
import signal
import sys
import unittest
from unittest import mock

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[3] / name) for name in ("python", "tests/support")]

import torch                                  # noqa: E402  pylint: disable=wrong-import-position
from torch.utils._python_dispatch import TorchDispatchMode     # noqa: E402  pylint: disable=wrong-import-position
from backendcase import Folder                # noqa: E402  pylint: disable=wrong-import-position
from cawb import process                      # noqa: E402  pylint: disable=wrong-import-position
from cawb.backend import check, lowering, options, packages, simulated     # noqa: E402  pylint: disable=wrong-import-position


class Largest(torch.nn.Module):
    def forward(self, x):
        found = x.sum(2).max(1)
        return found[0], found[1]


class Check(unittest.TestCase):
    def setUp(self):
        self.x = torch.rand(3000, 2, 64, generator=torch.Generator().manual_seed(1)) - 0.5
        self.x[::30, 1] = self.x[::30, 0].flip(1)        # some pairs of sums are nearly equal
        self.values, self.places = Largest()(self.x)

    def compare(self, places):
        return check.compare(torch.fx.symbolic_trace(Largest()), [self.x], [self.values, places])["ok"]

    def test_rounding_decides_between_nearly_equal_values(self):
        other = self.x.flip(2).sum(2).max(1)[1]
        self.assertGreater((other != self.places).sum().item(), 0)
        self.assertTrue(self.compare(other))

    def test_a_result_that_is_rounding_around_zero_has_no_error(self):
        class Centred(torch.nn.Module):
            def forward(self, x):
                return x[0] / 3 - (x[0] / 3 + x[1] / 7) + x[1] / 7, x * 3
        x = torch.rand(2, 4096, generator=torch.Generator().manual_seed(3)) + 1
        module = torch.fx.symbolic_trace(Centred())
        verdict = check.compare(module, [x], [module(x)[0] + 1e-8, x * 3])
        self.assertTrue(verdict["ok"])
        self.assertEqual(verdict["noise"], [1])
        self.assertLess(verdict["error"], 1e-6)
        self.assertLess(verdict["eager"], 1e-6)

    def precisions(self, has_float64):
        """What is allowed where eager PyTorch computes, of a graph that TF32 is allowed for."""
        seen = []

        def asks(x):
            if x.dtype == torch.float64 and not has_float64:
                raise NotImplementedError("no float64")
            seen.append(packages.precision())
            return x * 2
        graph = torch.fx.Graph()
        graph.output((graph.call_function(asks, (graph.placeholder("x"),)),))
        self.addCleanup(setattr, torch.backends.cudnn, "allow_tf32", torch.backends.cudnn.allow_tf32)
        torch.backends.cudnn.allow_tf32 = True
        allowed = packages.precision()
        check.compare(torch.fx.GraphModule({}, graph), [self.x], [self.x * 2])
        self.assertEqual(packages.precision(), allowed)
        return seen[-1], allowed

    def test_strict_float32_is_the_measure_where_there_is_no_float64(self):
        found, allowed = self.precisions(has_float64=False)
        self.assertNotEqual(found, allowed)
        found, allowed = self.precisions(has_float64=True)
        self.assertEqual(found, allowed)

    def test_float64_that_comes_in_other_strides_is_compared(self):
        class Wide(TorchDispatchMode):
            def __torch_dispatch__(self, func, types, args=(), kwargs=None):
                made = func(*args, **(kwargs or {}))
                return made.mT.contiguous().mT if func is torch.ops.aten.exp.default and made.dtype == torch.float64 else made
        graph = torch.fx.Graph()
        risen = graph.call_function(torch.ops.aten.exp.default, (graph.placeholder("x"),))
        graph.output((graph.call_function(torch.ops.aten.view.default, (risen, [-1])),))
        with Wide():
            verdict = check.compare(torch.fx.GraphModule({}, graph), [self.x], [self.x.exp().flatten()])
        self.assertTrue(verdict["ok"])
        self.assertIsNotNone(verdict["error"])

    def test_an_error_is_that_of_finite_numbers(self):
        wanted = torch.tensor([-torch.inf, 3.0, 4.0], dtype=torch.float64)
        self.assertEqual(check.error_of(torch.tensor([-torch.inf, 3.0, 4.0]), wanted), 0)
        self.assertAlmostEqual(check.error_of(torch.tensor([-torch.inf, 3.5, 4.0]), wanted), 0.1)
        self.assertIsNone(check.error_of(torch.zeros(1), wanted[:1]))

    def test_wrong_places_are_wrong(self):
        self.assertTrue(self.compare(self.places))
        self.assertFalse(self.compare(1 - self.places))
        self.assertFalse(self.compare(torch.zeros_like(self.places)))
        self.assertFalse(self.compare(self.places.int()))

    def test_a_single_place_is_exact_where_nothing_is_nearly_equal(self):
        self.x = torch.randn(50, 2, 64, generator=torch.Generator().manual_seed(2))
        self.values, self.places = Largest()(self.x)
        self.places[7] = 1 - self.places[7]
        self.assertFalse(self.compare(self.places))

    def test_equal_values_may_be_sorted_in_any_order_that_pytorch_takes(self):
        graph = torch.fx.Graph()
        found = graph.call_function(torch.ops.aten.sort.default, (graph.placeholder("x"),))
        graph.output(tuple(graph.call_function(operator.getitem, (found, i)) for i in (0, 1)))
        module, x = torch.fx.GraphModule({}, graph), torch.arange(400) % 4
        values, places = x.sort(stable=True)
        self.assertTrue(check.compare(module, [x], [values, places])["ok"])
        self.assertFalse(check.compare(module, [x], [values, places.flip(0)])["ok"])

    def test_signs_behind_a_gpus_attention_are_compared_with_float64s(self):
        attend = torch.ops.aten._scaled_dot_product_efficient_attention
        for sums in (True, False):
            graph = torch.fx.Graph()
            q, mask = graph.placeholder("q"), graph.placeholder("mask")
            node = graph.call_function(attend.default, (q, q, q, mask, sums))
            graph.output((graph.call_function(torch.le, (graph.call_function(operator.getitem, (node, 0)), 0)),))
            module = torch.fx.GraphModule(torch.nn.Module(), graph)
            q, mask = torch.randn(2, 3, 40, 16), torch.randn(2, 3, 40, 40)
            exact, = check.wide(module, [q, mask])
            q, mask = q.double(), mask.double()
            self.assertTrue(torch.equal(exact, torch.nn.functional.scaled_dot_product_attention(q, q, q, mask) <= 0))

    def test_a_view_behind_a_gpus_attention_has_float64(self):
        graph = torch.fx.Graph()
        q, mask = graph.placeholder("q"), graph.placeholder("mask")
        node = graph.call_function(torch.ops.aten._scaled_dot_product_efficient_attention.default, (q, q, q, mask, True))
        behind = graph.call_function(torch.transpose, (graph.call_function(operator.getitem, (node, 0)), 1, 2))
        graph.output((graph.call_function(torch.ops.aten.view.default, (behind, [2, 40, 48])),))
        q, mask = torch.randn(2, 3, 40, 16), torch.randn(2, 3, 40, 40)
        exact, = check.wide(torch.fx.GraphModule(torch.nn.Module(), graph), [q, mask])
        q, mask = q.double(), mask.double()
        wanted = torch.nn.functional.scaled_dot_product_attention(q, q, q, mask).transpose(1, 2).reshape(2, 40, 48)
        torch.testing.assert_close(exact, wanted, rtol=1e-12, atol=1e-12)


class Trouble(Folder):
    def test_an_interrupted_question_leaves_no_answer_to_the_next_one(self):
        lowering.ask("sim:h100", {"op": "hello"})
        one = lowering.processes["sim:h100"]
        one.process.stdout = mock.Mock(wraps=one.process.stdout, **{"readline.side_effect": KeyboardInterrupt})
        with self.assertRaises(KeyboardInterrupt):
            self.compiled(torch.tanh)(torch.randn(5))
        torch._dynamo.reset()
        x, compiled = torch.randn(5), self.compiled(torch.tanh)
        self.near(compiled(x), x.tanh())
        self.assertEqual([part.runs() for part in self.parts(compiled)], ["cawb"])

    def test_an_interrupted_call_leaves_no_results_to_the_next_one(self):
        x, compiled = torch.randn(5), self.compiled(torch.tanh)
        compiled(x)
        with mock.patch.object(simulated.Worker, "exactly", side_effect=KeyboardInterrupt), self.assertRaises(KeyboardInterrupt):
            compiled(x)
        self.near(self.compiled(torch.exp)(x), x.exp())

    def test_a_terminals_interrupt_is_not_for_the_processes_behind(self):
        self.compiled(torch.tanh)(torch.randn(5))
        for pid in (lowering.processes["sim:h100"].process.pid, simulated.workers["sim:h100"].pid):
            self.assertNotEqual(os.getpgid(pid), os.getpgid(0))

    def test_a_process_that_forks_has_no_other_ones_replies(self):
        x, compiled = torch.randn(5), self.compiled(torch.tanh)
        compiled(x)
        pid = os.fork()
        if pid == 0:
            os._exit(bool(simulated.workers or lowering.processes))         # pylint: disable=protected-access
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 0)
        self.near(compiled(x), x.tanh())

    def test_a_process_that_has_ended_is_closed_without_words(self):
        one = lowering.Lower("sim:h100")
        one.process.stdin.write("unsent")
        one.process.send_signal(signal.SIGKILL)
        one.process.wait()
        one.close()
        self.assertTrue(one.process.stdout.closed)

    def test_weights_that_are_written_between_calls(self):
        model, x = torch.nn.Sequential(torch.nn.Linear(6, 4), torch.nn.Linear(4, 3)), torch.randn(5, 6)
        compiled = self.compiled(model)
        with torch.no_grad():
            for write in (lambda w: w.mul_(2), lambda w: w.data.add_(1), lambda w: setattr(w, "data", w.data * 3)):
                self.near(compiled(x), model(x))
                write(model[0].weight)
                self.near(compiled(x), model(x))

    def test_a_folder_for_failures_and_a_page_that_cannot_be_written(self):
        file, x = os.path.join(self.folder, "file"), torch.randn(5)
        pathlib.Path(file).touch()
        broken = mock.patch.object(simulated.Simulated, "run", side_effect=simulated.Broken("planted"))
        with broken, self.assertLogs("cawb", logging.WARNING) as logs:
            self.near(self.compiled(torch.tanh, failures=file, report=os.path.join(file, "page.html"))(x), x.tanh())
        self.assertIn("the page of the option `report` is not written", logs.output[0])
        self.assertRegex(logs.output[1], "runs as eager: planted; nothing reproduces it, for the folder of the option `failures` takes no files")

    def test_options_of_a_wrong_kind_are_refused(self):
        for given, words in (({"sizes": "many"}, "sizes is a whole number, not 'many'"), ({"cache": 5}, "cache is a folder or None, not 5"),
                             ({"failures": None}, "failures is a folder, not None"), ({"device": None}, "device is \"auto\" or a simulated one"),
                             ("sim:h100", "options is a dictionary such as .* not 'sim:h100'")):
            with self.assertRaisesRegex(ValueError, words):
                options.read(given)
        options.read({"cache": pathlib.Path(self.folder)})

    def test_a_program_that_is_not_there(self):
        with mock.patch.dict(os.environ, {"CAWB_PROGRAM": self.folder}), \
                self.assertRaisesRegex(FileNotFoundError, "was not found at %s: put its" % self.folder):
            process.program()

    def test_an_operator_that_cannot_be_recorded_cuts_its_graph(self):
        table, i = torch.nn.Embedding(10, 4, sparse=True), torch.tensor([1, 1, 3])
        compiled = self.compiled(lambda i: (table(i) * 2).exp())
        with self.assertLogs("cawb", logging.WARNING) as logs:
            compiled(i).sum().backward()
        found, table.weight.grad = table.weight.grad.to_dense(), None
        (table(i) * 2).exp().sum().backward()
        self.near(found, table.weight.grad.to_dense())
        self.assertRegex(logs.output[0], "_sparse_coo_tensor.* runs as eager: .* sparse")
        self.assertEqual({part.runs() for part in self.parts(compiled)}, {"cawb"})


if __name__ == "__main__":
    unittest.main()
