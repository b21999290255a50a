"""The backend of torch.compile on the simulated device: a wheel registers it; values and gradients, what falls back and says so,
what is guarded, and what is kept."""
import contextlib
import importlib.util
import itertools
import json
import logging
import operator
import os
import pathlib
import shutil
import subprocess
import sys
import threading
import unittest
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parents[3]
os.environ.setdefault("CAWB_PROGRAM", str(ROOT / "build" / "release" / "bin" / "cawb"))
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "tests" / "support")]

import torch                                  # noqa: E402  pylint: disable=wrong-import-position
from torch._dynamo.backends.common import aot_autograd    # noqa: E402  pylint: disable=wrong-import-position
from torch._inductor.decomposition import select_decomp_table                # noqa: E402  pylint: disable=wrong-import-position
from torch._subclasses.fake_tensor import FakeTensor      # noqa: E402  pylint: disable=wrong-import-position
from torch.fx.experimental.proxy_tensor import make_fx    # noqa: E402  pylint: disable=wrong-import-position
from torch.utils._python_dispatch import TorchDispatchMode                  # noqa: E402  pylint: disable=wrong-import-position
import cawb                                   # noqa: E402  pylint: disable=wrong-import-position
import compiled_models                        # noqa: E402  pylint: disable=wrong-import-position
from backendcase import Folder, listed        # noqa: E402  pylint: disable=wrong-import-position
from cawb import backend                      # noqa: E402  pylint: disable=wrong-import-position
from cawb.backend import attention, fallback, part, report, simulated              # noqa: E402  pylint: disable=wrong-import-position

LIMIT = 120


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two = torch.nn.Linear(6, 12), torch.nn.Linear(12, 3)

    def forward(self, x):
        return self.two(torch.nn.functional.gelu(self.one(x)))


class Values(Folder):
    def test_a_step_of_an_optimizer(self):
        model, twin = Model(), Model()
        twin.load_state_dict(model.state_dict())
        compiled = self.compiled(model)
        steps = [torch.optim.SGD(m.parameters(), lr=0.1) for m in (model, twin)]
        for _ in range(3):
            x = torch.randn(4, 6)
            for one, step in zip((compiled, twin), steps):
                step.zero_grad()
                one(x).square().mean().backward()
                step.step()
            self.near([p.detach() for p in model.parameters()], [p.detach() for p in twin.parameters()])
        with torch.no_grad():
            self.near(compiled(x), twin(x))
        self.assertEqual([part.runs() for part in self.parts(compiled)], ["cawb"] * 3)

    def test_views_of_inputs_mutation_and_plain_values(self):
        def program(x, y):
            x.mul_(2)
            return x[1:], y.t(), (x + y).sum(), 3
        x, y = torch.randn(4, 4), torch.randn(4, 4)
        given, other = (x.clone(), y.clone()), (x.clone(), y.clone())
        with torch.no_grad():
            found, wanted = self.compiled(program)(*given), program(*other)
        self.near(found[:3], wanted[:3])
        self.near(given, other)
        self.assertEqual(found[3], 3)
        self.assertEqual(found[0].untyped_storage().data_ptr(), given[0].untyped_storage().data_ptr())

    def test_values_put_where_a_mask_is_set(self):
        """There are as many as the mask has places; of a place's own shape, or one for all."""
        x = torch.randn(7, 5, 3)
        for mask in (x[:, 0, 0] > 0, x[..., 0] > 0, x > 0, torch.zeros(7, dtype=torch.bool), torch.ones(7, 5, dtype=torch.bool)):
            torch._dynamo.reset()
            put, shape = self.compiled(lambda x, mask, values, adds: x.index_put((mask,), values, adds)), x[mask].shape
            for values, adds in itertools.product((torch.randn(shape), torch.tensor(2.0), torch.randn(1, *shape[1:])), (False, True)):
                self.near(put(x, mask, values, adds), x.index_put((mask,), values, adds))
            self.assertLessEqual({part.runs() for part in self.parts(put) if part.operators}, {"cawb"})

    def test_results_may_be_changed_in_place(self):
        def program(x):
            return x * 2, x * 2, (x * 2).t()

        def changed(run, x):
            first, *others = run(x)
            first.add_(1)
            return [first, *others, torch.autograd.grad(first.square().sum(), x)[0]]
        x = torch.randn(3, 4, requires_grad=True)
        found, wanted = changed(self.compiled(program), x), changed(program, x)
        self.near([y.detach() for y in found], [y.detach() for y in wanted])

    def test_only_a_graph_that_pytorch_has_nothing_to_do_around_is_called_directly(self):
        weight, row = torch.randn(4, 4, requires_grad=True), torch.randn(4)
        programs = {"plain": lambda x: (x @ row, (x + 1).t()), "mutation": lambda x: x.mul_(2).exp(), "alias": lambda x: (x.exp(), x[1:]),
                    "argument": lambda x: (x, x.exp()), "alias of a result": lambda x: (lambda y: (y, y[1:]))(x.exp()),
                    "gradient": lambda x: x @ weight, "of no gradient": lambda x: x.exp() * weight.detach()}
        direct = []
        with mock.patch.object(backend.part.Part, "callable", autospec=True, side_effect=backend.part.Part.callable) as asked:
            for name, program in programs.items():
                compiled = self.compiled(program)
                asked.reset_mock()
                for _ in range(2):
                    x = torch.randn(4, 4)
                    given, other = x.clone(), x.clone()
                    found, wanted = compiled(given), program(other)
                    self.near([*listed(found), given], [*listed(wanted), other])
                    self.assertEqual(given._version, other._version)
                if any(len(call.args) == 2 for call in asked.call_args_list):
                    direct.append(name)
        self.assertEqual(direct, ["plain", "argument", "alias of a result", "of no gradient"])         # Dynamo returns the argument itself

    def test_energy_and_forces_inside_of_one_function(self):
        model = compiled_models.Forces()

        def program(places):
            energy = model.energy(places)
            return energy.detach(), -torch.autograd.grad(energy, places)[0]
        compiled, places = self.compiled(program), torch.randn(6, 3, requires_grad=True)
        self.near(compiled(places), program(places))
        self.assertEqual({part.runs() for part in self.parts(compiled)}, {"cawb"})

    def test_a_compiled_function_is_a_sound_operator_of_pytorchs(self):
        """It writes to no argument, and what it returns is not one of them."""
        compiled, given = self.compiled(lambda x, y: (x @ y).softmax(-1)), (torch.randn(4, 6), torch.randn(6, 5))
        operator = torch.library.custom_op("cawb_test::attend", lambda x, y: compiled(x, y), mutates_args=(), schema="(Tensor x, Tensor y) -> Tensor")
        operator.register_fake(lambda x, y: x.new_empty(x.shape[0], y.shape[1]))
        with torch.no_grad():
            self.assertEqual(set(torch.library.opcheck(operator, given).values()), {"SUCCESS"})


class Fallback(Folder):
    def test_what_the_compiler_lacks_is_named_once_and_the_rest_runs(self):
        def program(x):
            return torch.linalg.inv(x.exp() @ x + 9 * torch.eye(4)).relu() + 1     # the line that is named
        compiled, x = self.compiled(program), torch.rand(4, 4)
        with self.assertLogs("cawb", logging.WARNING) as logs, torch.no_grad():
            self.near(compiled(x), program(x))
            compiled(x)
        self.assertEqual(len(logs.output), 1)
        line = program.__code__.co_firstlineno + 1
        self.assertRegex(logs.output[0], r"linalg_inv_ex.* at .*test_backend\.py:%d " % line)
        self.assertEqual([part.runs() for part in self.parts(compiled)], ["cawb", "cawb"])
        said = cawb.explain(compiled)
        self.assertRegex(said, r"\n\d+\.1 +inference .* cawb .*\n\d+\.2 +inference .* cawb .*\n\d+\.3 +inference +1 +eager")
        self.assertRegex(said, r"graph \d+\.3: aten.linalg_inv_ex\S* at .*test_backend\.py:%d: compose has no way to make it" % line)
        self.assertNotIn("of the task", said)

    def test_a_device_that_does_not_exist_is_a_mistake_of_the_programs(self):
        with self.assertRaisesRegex(Exception, "no simulated device 'sim:h1000' .did you mean 'h100'"):
            self.compiled(lambda x: x * 3, device="sim:h1000")(torch.randn(5))

    def test_explain_tells_of_one_function_and_takes_no_other_thing(self):
        one, other = torch.compile(lambda x: x * 5, backend=backend.backend), self.compiled(lambda x: x * 7)
        one(torch.randn(5)), other(torch.randn(6))
        self.assertRegex(cawb.explain(other), r"^graph .*\n\d+ [^\n]*(\ngraph \d+: seconds .*)?$")
        self.assertIn("its tensors are on the processor", cawb.explain(one))
        self.assertNotIn("not timed", cawb.explain(one))
        with self.assertRaisesRegex(TypeError, "takes what torch.compile.* returned, or nothing, not a Linear"):
            cawb.explain(torch.nn.Linear(2, 2))

    def test_explain_tells_two_functions_of_one_module_apart(self):
        model, x = torch.nn.Linear(4, 4), torch.randn(3, 4)
        one, other = cawb.compile(model), self.compiled(model)
        one(x), other(x)
        self.assertIn("its tensors are on the processor", cawb.explain(one))
        self.assertNotIn("its tensors are on the processor", cawb.explain(other))

    def test_a_fallback_is_timed_without_what_looks_at_each_operator(self):
        class Looks(TorchDispatchMode):
            seen = 0

            def __torch_dispatch__(self, func, types, args=(), kwargs=None):
                self.seen += 1
                return func(*args, **(kwargs or {}))
        one, x = mock.Mock(), torch.randn(4)
        one.other.compiled.return_value = torch.exp
        with mock.patch.object(part, "measured", lambda rivals, args: rivals["other"](*args)), Looks() as looks:
            found = part.beside(one, torch.exp, [x], lambda _: contextlib.nullcontext())
        self.assertEqual(looks.seen, 0)
        self.near(found, x.exp())

    def test_a_kernel_that_fails_falls_back_and_leaves_a_folder(self):
        compiled, x = self.compiled(lambda x: x * 3), torch.randn(5)
        right = simulated.Simulated.run

        def wrong(one, *args):
            return [made + 1 for made in right(one, *args)]
        with mock.patch.object(simulated.Simulated, "run", wrong), self.assertLogs("cawb", logging.WARNING) as logs:
            self.near(compiled(x), x * 3)
        self.near(compiled(x), x * 3)
        self.assertIn("wrong results", logs.output[0])
        folder, = pathlib.Path(self.folder, "failures").iterdir()
        self.assertEqual(json.loads((folder / "reason.json").read_text())["chip"], "sim:h100")
        spec = importlib.util.spec_from_file_location("reproduced", folder / "task.py")
        task = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(task)
        given = task.get_inputs()
        self.near(task.Model()(*given), given[0] * 3)
        self.assertTrue((folder / "kernel.cu").exists() and (folder / "plan.lua").exists())

    def test_the_folder_of_a_graph_with_weights_can_be_judged(self):
        module = torch.nn.Linear(8, 8)

        def program(x):
            mask = x.new_zeros(8)
            mask[:4] = torch.tensor(2.0)
            return module(x) + mask
        compiled, x, right = self.compiled(program), torch.randn(5, 8), simulated.Simulated.run
        with mock.patch.object(simulated.Simulated, "run", lambda one, *args: [made + 1 for made in right(one, *args)]), \
                self.assertLogs("cawb", logging.WARNING), torch.no_grad():
            self.near(compiled(x), program(x))
        folder, = pathlib.Path(self.folder, "failures").iterdir()
        self.assertRegex((folder / "plan.lua").read_text(), r'params\["p\d')
        done = subprocess.run([os.environ["CAWB_PROGRAM"], "judge", str(folder / "task.py"), str(folder), "--device", "sim:h100", "--out", self.folder],
                              capture_output=True, text=True, check=False)
        self.assertIn(done.returncode, (0, 1), done.stdout + done.stderr)                 # the kernels themselves are right

    def test_the_fallback_is_compiled_apart_from_the_call_that_needs_it(self):
        """A first call comes from inside of an autograd function, where nothing can be traced."""
        compiled, x = self.compiled(lambda x: torch.nn.functional.layer_norm(x, [4]) * 3, fallback="inductor"), torch.randn(5, 4, requires_grad=True)
        seen = []
        with mock.patch.object(simulated.Simulated, "run", side_effect=simulated.Broken("planted")), \
                mock.patch.object(torch._inductor, "compile", lambda module, args: seen.append(threading.current_thread()) or fallback.eager(module)):
            compiled(x).sum().backward()
        self.assertEqual(len(seen), 2)
        self.assertNotIn(threading.main_thread(), seen)

    def test_the_fallback_is_compiled_while_kernels_are_made(self):
        compiled, x = self.compiled(lambda x: x.sin() * 3, fallback="inductor"), torch.randn(5, 4, requires_grad=True)
        seen, ask, began = [], backend.lowering.ask, threading.Event()

        def asked(device, request):
            if request["op"] == "lower":
                seen.append(began.wait(60))
                began.clear()
            return ask(device, request)

        def compile_it(module, args):
            seen.append([type(a) for a in args])
            began.set()
            return fallback.eager(module)
        with mock.patch.object(simulated.Simulated, "run", side_effect=simulated.Broken("planted")), mock.patch.object(backend, "is_timed", lambda *_: True), \
                mock.patch.object(torch._inductor, "compile", compile_it), mock.patch.object(backend.lowering, "ask", asked):
            self.near(compiled(x), x.sin() * 3)
            compiled(x).sum().backward()
        self.near(x.grad, x.detach().cos() * 3)
        self.assertEqual(seen, [[FakeTensor], True, [FakeTensor] * 2, True])

    def test_a_fallback_that_was_compiled_ahead_is_for_one_form(self):
        late = fallback.Late(torch.fx.symbolic_trace(lambda x: x.exp()), None, backend.Options(fallback="inductor"))
        x, given = torch.randn(3, 4), []
        with mock.patch.object(torch._inductor, "compile", lambda module, args: given.append(args[0]) or fallback.eager(module)):
            late.ahead([x])
            self.near(late(x), x.exp())
            self.assertEqual(len(given), 1)
            late.ahead([x.t()])
            self.near(late(x), x.exp())
        self.assertEqual([type(a) for a in given], [FakeTensor, FakeTensor, torch.Tensor])

    def test_a_view_of_a_tensor_that_inductor_lays_out_otherwise(self):
        """Inductor leaves empty tensors out of torch.cat, which then has the strides of the other one."""
        def program(x, nothing):
            return (torch.ops.aten.view(torch.cat([nothing, x.transpose(1, 2)], -2).transpose(2, 3), [6, 4, 5]) * 2,)

        def traced(module, args):
            return aot_autograd(fw_compiler=lambda graph, _: graph.forward, decompositions=select_decomp_table())(module, args)
        given = torch.randn(2, 5, 3, 4), torch.randn(0)
        late = fallback.Late(make_fx(program)(*given), None, backend.Options(fallback="inductor"))
        with mock.patch.object(torch._inductor, "compile", traced), self.assertNoLogs("cawb"):
            self.near(late(*given), program(*given))

    def test_a_size_that_pytorch_foresees_wrongly(self):
        """aten._unique has one value where PyTorch traces it, and as many as data says where it runs."""
        def program(x, at, value):
            return x.index_fill(0, at, value)
        given = torch.randn(5, 4, requires_grad=True), torch.tensor([2, 0, 2, 4]), torch.tensor(1.5, requires_grad=True)
        found, wanted = (torch.autograd.grad(f(*given).square().sum(), [given[0], given[2]]) for f in (self.compiled(program, choose="always"), program))
        self.near(found, wanted)

    def test_tensors_elsewhere_run_as_they_did(self):
        with self.assertLogs("cawb", logging.WARNING) as logs:
            self.near(cawb.compile(lambda x: x + 1, cache=None)(torch.ones(3)), torch.full((3,), 2.0))
        self.assertIn("simulates a GPU", logs.output[0])

    def test_unknown_options_are_refused(self):
        for options, words in (({"chose": "always"}, "there is no option 'chose'"), ({"choose": "fast"}, "choose is one of"),
                               ({"device": "h100"}, "device is")):
            with self.assertRaisesRegex(ValueError, words):
                cawb.compile(lambda x: x, **options)


class Attention(unittest.TestCase):
    """The GPU's operators, whose decompositions are PyTorch's own numbers on a processor, too."""

    def test_backward_with_and_without_a_mask(self):
        torch.manual_seed(5)
        q, k, v, grad = (torch.randn(2, 2, 6, 8, requires_grad=True) for _ in range(4))
        for causal, bias in ((False, torch.randn(2, 2, 6, 6, requires_grad=True)), (True, None)):
            wanted = [q, k, v] + ([] if bias is None else [bias])
            plain = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=bias, is_causal=causal)
            out, sums, _, _ = attention.efficient(q, k, v, bias, True, 0.0, causal)
            self.assertEqual(sums.shape[-1], 32)
            found = attention.efficient_backward(grad, q, k, v, bias, out, sums, None, None, 0.0, [True] * 3 + [bias is not None], causal)
            torch.testing.assert_close(out, plain)
            for a, b in zip(found, torch.autograd.grad(plain, wanted, grad)):
                torch.testing.assert_close(a, b)

    def test_what_is_of_no_meaning_is_not_compared(self):
        graph = torch.fx.Graph()
        q = graph.placeholder("q")
        q.meta["val"] = torch.empty(1, 1, 6, 8)
        made = graph.call_function(torch.ops.aten._scaled_dot_product_efficient_attention.default, (q, q, q, None, True))
        graph.output(tuple(graph.call_function(operator.getitem, (made, i)) for i in range(4)))
        whole, sums, seed, offset = attention.shown(torch.fx.GraphModule(torch.nn.Module(), graph))
        self.assertEqual((whole(q.meta["val"]).shape, sums(torch.empty(1, 1, 32)).shape), ((1, 1, 6, 8), (1, 1, 6)))
        self.assertEqual((seed, offset), (None, None))


class Kept(Folder):
    def test_packages_are_kept(self):
        x = torch.randn(3, 5)
        for wanted in (False, True):
            torch._dynamo.reset()
            compiled = self.compiled(torch.tanh)
            self.near(compiled(x), x.tanh())
            self.assertEqual([part.hit for part in self.parts(compiled)], [wanted])

    def test_a_choice_holds_for_one_precision(self):
        x, conv = torch.randn(3, 5), torch.backends.cudnn.conv
        compiled = self.compiled(torch.tanh)
        compiled(x)
        self.addCleanup(setattr, conv, "fp32_precision", conv.fp32_precision)
        with mock.patch.object(backend.part.check, "compare", wraps=backend.part.check.compare) as compare:
            compiled(x)
            self.assertEqual(compare.call_count, 0)
            conv.fp32_precision = "tf32" if conv.fp32_precision != "tf32" else "ieee"
            self.near(compiled(x), x.tanh())
            self.assertEqual(compare.call_count, 1)

    def test_the_report(self):
        path = os.path.join(self.folder, "page.html")
        compiled = self.compiled(lambda x: x.exp() - 1, report=path)
        compiled(torch.randn(4))
        page = pathlib.Path(path).read_text(encoding="utf-8")
        self.assertIn("<td>inference</td>", page)
        self.assertIn("miss", cawb.explain(compiled))

    def test_the_report_says_where_seconds_went(self):
        x = torch.randn(4)
        first, again = self.compiled(torch.expm1), self.compiled(torch.expm1)
        with mock.patch.object(report, "SHOWN", 0):
            first(x)
            torch._dynamo.reset()                                            # pylint: disable=protected-access
            again(x)
            made, found = cawb.explain(first), cawb.explain(again)
        for name in ("recording", "lowering", "machine code", "loading", "kernels", "eager PyTorch", "float64", "comparison"):
            self.assertRegex(made, r"seconds of its choice: .*\b%s \d" % name)
            self.assertEqual(name in found, name not in ("lowering", "machine code"))
        self.assertNotIn("choice", cawb.explain(self.compiled(torch.exp)))


@unittest.skipUnless(importlib.util.find_spec("pip"), "this Python has no pip")
class Wheel(Folder):
    def test_torch_compile_knows_the_name_once_the_wheel_is_installed(self):
        tree, share = os.path.join(self.folder, "tree"), os.path.join(self.folder, "tree", "share", "cawb")
        os.makedirs(os.path.join(tree, "bin"))
        shutil.copytree(ROOT / "python" / "cawb_host", os.path.join(share, "python", "cawb_host"))
        program = os.path.join(tree, "bin", "cawb")
        with open(program, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\nCAWB_HOME='%s' exec '%s' \"$@\"\n" % (ROOT, os.environ["CAWB_PROGRAM"]))
        os.chmod(program, 0o755)
        made = subprocess.run([sys.executable, str(ROOT / "cmake" / "wheel.py"), tree, str(ROOT / "python" / "cawb"), "0.1.0", self.folder],
                              capture_output=True, text=True, check=True, timeout=LIMIT).stdout.strip()
        into = os.path.join(self.folder, "installed")
        subprocess.run([sys.executable, "-m", "pip", "install", "-q", "--no-index", "--no-deps", "--target", into, made], check=True,
                       timeout=LIMIT, capture_output=True)
        text = ("import torch\nassert 'cawb' in torch._dynamo.list_backends()\n"
                "f = torch.compile(lambda x: x.sin() * 2, backend='cawb', options={'device': 'sim:h100', 'cache': None})\n"
                "x = torch.randn(6)\nassert torch.allclose(f(x), x.sin() * 2)\n"
                "import cawb\nassert ' cawb ' in cawb.explain(), cawb.explain()\n")
        environment = {"PATH": os.environ["PATH"], "PYTHONPATH": into, "HOME": self.folder}
        said = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, env=environment, cwd=self.folder,
                              timeout=LIMIT, check=False)
        self.assertEqual(said.returncode, 0, said.stderr)


if __name__ == "__main__":
    unittest.main()
