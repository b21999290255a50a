"""Loading a user's file: overrides, and errors that name file and line."""
import ast
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "support"))

from hostcase import PACKAGES, HAVE_TORCH, Loaded, TaskCase, task

if HAVE_TORCH:
    import torch
    from cawb_host.judge.task import plain

PLAIN = """
    import torch
    batch_size = 4
    dim = 2 * batch_size

    class Model(torch.nn.Module):
        '''Doubles.'''
        def forward(self, x):
            return x * 2

    def get_inputs():
        return [torch.rand(batch_size, dim)]

    def get_init_inputs():
        return []
"""


class Prepare(TaskCase):
    def test_a_device_can_be_touched_ahead_of_any_task(self):
        self.assertTrue(self.host.call("prepare", device="cpu", compile=True, threads=2)["ok"])
        self.assertEqual(self.host.call("prepare", device="cuda:99")["name"], "missing")
        self.assertTrue(self.load(PLAIN).reply["ok"])


class Errors(TaskCase):
    def message(self, text, name="task", **fields):
        """The one line, without the folder that the test made."""
        reply = self.refuse(text, **fields)
        self.assertEqual(reply["name"], name)
        self.assertNotIn("\n", reply["message"])
        return reply["message"].replace(self.folder + os.sep, "")

    def test_no_such_file(self):
        reply = Loaded(self.host, "/nowhere/foo.py").reply
        self.assertEqual(reply["message"], "/nowhere/foo.py: No such file or directory")

    def test_syntax_error(self):
        self.assertEqual(self.message("import torch\n\nx = = 1\n"),
                         "foo.py:3: SyntaxError: invalid syntax (in the file)")

    def test_exception_in_the_file(self):
        self.assertEqual(self.message("import torch\nx = 1 / 0\n"),
                         "foo.py:2: ZeroDivisionError: division by zero (in the file)")

    def test_missing_model_and_missing_get_inputs(self):
        self.assertIn("foo.py:1: no Model in the file", self.message("x = 1\n"))
        text = "import torch\nclass Model(torch.nn.Module):\n    pass\n"
        self.assertIn("foo.py:1: no get_inputs in the file", self.message(text))

    def test_exception_in_get_inputs_comes_with_its_traceback(self):
        text = task("return x", "helper()", head="def helper():\n    return undefined")
        reply = self.refuse(text)
        self.assertTrue(reply["message"].endswith(
            "foo.py:5: NameError: name 'undefined' is not defined (in get_inputs)"))
        self.assertIn("Traceback (most recent call last)", reply["traceback"])
        self.assertIn("in helper", reply["traceback"])

    def test_exception_in_init_and_in_forward(self):
        self.assertEqual(self.message(task("return x", "[torch.ones(2)]",
                                           setup="self.a = []; self.a[3]")),
                         "foo.py:8: IndexError: list index out of range (in Model.__init__)")
        self.assertEqual(self.message(task("return x.nope", "[torch.ones(2)]")),
                         "foo.py:11: AttributeError: 'Tensor' object has no attribute 'nope'"
                         " (in Model.forward)")

    def test_wrong_number_of_arguments_points_to_the_definition(self):
        text = PLAIN.replace("return []", "return [1, 2]").replace(
            "def forward(self, x)", "def forward(self, x, y)")
        self.assertIn("foo.py:5: TypeError", self.message(text))
        text = PLAIN.replace("def forward(self, x)", "def forward(self, x, y)")
        self.assertRegex(self.message(text), r"^foo.py:7: TypeError: .*'y' \(in Model.forward\)$")

    def test_output_that_is_no_tensor(self):
        self.assertEqual(self.message(task("return x, 'y'", "[torch.ones(2)]")),
                         "foo.py:9: forward returns str as [2]; it must return tensors, numbers,"
                         " None, or tuples, lists, dicts or dataclasses of these")
        self.assertIn("foo.py:9: forward returns nothing to compare",
                      self.message(task("return None", "[torch.ones(2)]")))

    def test_inputs_that_are_no_list_or_of_unknown_kind(self):
        self.assertIn("foo.py:12: get_inputs() returns Tensor; it must return a list",
                      self.message(task("return x", "torch.ones(2)")))
        self.assertIn("foo.py:12: input 2 is set;",
                      self.message(task("return x", "[torch.ones(2), {3}]")))
        self.assertIn("input 2 is a dict with the key 3: keys must be texts",
                      self.message(task("return x", "[torch.ones(2), {3: 4}]")))
        self.assertIn("foo.py:12: input 1 has dtype torch.float8_e4m3fnuz; supported are float32",
                      self.message(task("return x", "[torch.ones(2).to(torch.float8_e4m3fnuz)]")))
        self.assertIn("foo.py:9: output 1 has dtype torch.float8_e4m3fn, which inputs may have, outputs not",
                      self.message(task("return x.to(torch.float8_e4m3fn)", "[torch.ones(2)]")))

    def test_sparse_tensors_are_refused_wherever_they_occur(self):
        words = "is a sparse (sparse_coo) tensor; the judge compares dense ones"
        self.assertIn("foo.py:12: input 1 " + words, self.message(task("return x", "[torch.eye(2).to_sparse()]")))
        self.assertIn("foo.py:11: what aten._to_sparse.default makes " + words, self.message(
            task("return torch.sparse.mm(x.to_sparse(), x)", "[torch.rand(2, 2)]")))
        self.assertIn("input 1 is a sparse (sparse_csr)", self.message(
            task("return x", "[torch.eye(2).to_sparse_csr()]")))

    def test_model_that_is_no_module(self):
        text = PLAIN.replace("torch.nn.Module", "object")
        self.assertEqual(self.message(text), "foo.py:5: Model is not a torch.nn.Module")

    def test_sys_exit_ends_nothing(self):
        text = task("import sys; sys.exit(3)", "[torch.ones(2)]")
        self.assertEqual(self.message(text), "foo.py:11: SystemExit: the task called sys.exit(3)"
                                             " (in Model.forward)")
        self.assertTrue(self.host.call("hello")["ok"])

    def test_too_much_memory_is_called_that(self):
        text = self.message(task("return x", "[torch.empty(1 << 50)]"), name="memory")
        self.assertIn("foo.py:13: RuntimeError", text)
        self.assertIn("shrink the task", text)

    def test_devices_are_checked(self):
        self.assertEqual(self.message(PLAIN, "invalid", device="tpu"),
                         "device 'tpu': the task host knows cpu and cuda:N")
        self.assertIn("PyTorch", self.message(PLAIN, "missing", device="cuda:99"))

    def test_a_failed_load_leaves_no_task(self):
        self.load(PLAIN)
        self.refuse("x = 1\n")
        self.assertEqual(self.host.call("compare", poison=0)["name"], "invalid")


class PlainFunction(TaskCase):
    @staticmethod
    def whole(signature, examples, body="return x * 2"):
        return "import torch\nrows = 40\n\ndef op(%s):\n    %s\n\nexamples = %s\n" % (signature, body, examples)

    def test_its_examples_say_what_inputs_look_like(self):
        text = self.whole("x, index", "[torch.rand(rows, 3) + 5, torch.arange(rows)]", "return x[index]")
        loaded = self.load(text, overrides={"rows": 8})
        self.assertEqual([i["shape"] for i in loaded.reply["inputs"]], [[8, 3], [8]])
        self.assertEqual([i["dtype"] for i in loaded.reply["inputs"]], ["float32", "int64"])
        self.assertEqual(loaded.reply["outputs"][0]["shape"], [8, 3])

    def test_numbers_follow_the_examples_and_are_new_each_time(self):
        loaded = self.load(self.whole("x", "[torch.rand(rows, 50) + 5]"))
        draws = []
        for seed in (1, 2):
            loaded.inputs(seed)
            draws.append(loaded.input().flatten().tolist())
        self.assertTrue(5 <= min(draws[0]) and max(draws[0]) <= 6)
        self.assertGreater(max(draws[0]) - min(draws[0]), 0.9)
        self.assertNotEqual(*draws)

    def test_numbers_are_drawn_where_tensors_are_made_by_default(self):
        """As on a GPU, where the examples themselves lie on the processor."""
        tree = ast.parse(self.whole("x, index", "[torch.rand(rows, 3), torch.arange(rows)]"))
        plain.complete(tree, "task.py")
        names = {}
        exec(compile(tree, "task.py", "exec"), names)  # pylint: disable=exec-used
        with torch.device("meta"):
            drawn = names["get_inputs"]()
        self.assertEqual([(t.device.type, list(t.shape), t.dtype) for t in drawn],
                         [("meta", [40, 3], torch.float32), ("meta", [40], torch.int64)])

    def test_what_cannot_be_a_task_is_said(self):
        two = self.whole("x", "[torch.rand(3)]").replace("def op", "def one") + "def two(x):\n    return x\n"
        self.assertIn("name it `op`, or leave one function in the file (it has one, two)", self.refuse(two)["message"])
        keyword = self.whole("x, *, eps", "[torch.rand(3), 1.0]")
        self.assertIn("op() has arguments that go by keyword only", self.refuse(keyword)["message"])


class Overrides(TaskCase):
    def shape(self, text, **overrides):
        loaded = self.load(text, overrides=overrides)
        return loaded.reply["inputs"][0]["shape"], loaded.reply["task"]["constants"]

    def test_what_is_computed_from_a_constant_follows_it(self):
        self.assertEqual(self.shape(PLAIN), ([4, 8], {"batch_size": 4, "dim": 8}))
        self.assertEqual(self.shape(PLAIN, batch_size=3), ([3, 6], {"batch_size": 3, "dim": 6}))
        self.assertEqual(self.shape(PLAIN, dim=5), ([4, 5], {"batch_size": 4, "dim": 5}))

    def test_chained_tuple_and_conditional_assignments(self):
        text = task("return x", "[torch.rand(a, b, c, d)]",
                    head="a = b = 2\nc, d = 3, 4\nif True:\n    e = 6\nd += e")
        self.assertEqual(self.shape(text)[0], [2, 2, 3, 10])
        self.assertEqual(self.shape(text, b=5, c=1)[0], [2, 5, 1, 10])
        self.assertEqual(self.shape(text, d=9)[0], [2, 2, 3, 9])
        self.assertEqual(self.shape(text, e=1)[0], [2, 2, 3, 5])

    def test_a_tuple_stays_a_tuple(self):
        text = task("return x", "[torch.rand((2,) + size)]", head="size = (3, 4)")
        self.assertEqual(self.shape(text, size=[5])[0], [2, 5])

    def test_lines_of_errors_do_not_move(self):
        text = task("return x", "[torch.rand(n) / zero()]", head="n = 4")
        reply = self.refuse(text, overrides={"n": 5})
        self.assertIn("foo.py:13: NameError", reply["message"])

    def test_an_unknown_name_is_answered_with_the_known_ones(self):
        reply = self.refuse(PLAIN, overrides={"batchsize": 3})
        self.assertEqual(reply["name"], "task")
        self.assertTrue(reply["message"].endswith(
            "foo.py: no module-level constant 'batchsize' to override (did you mean"
            " 'batch_size'?); it has batch_size, dim"), reply["message"])


class Reply(TaskCase):
    def test_the_task_is_described(self):
        loaded = self.load(PLAIN)
        about = loaded.reply["task"]
        self.assertEqual((about["name"], about["class_doc"]), ("foo", "Doubles."))
        self.assertEqual(len(about["source_sha256"]), 64)
        self.assertEqual((loaded.reply["deterministic"], loaded.reply["random"]), (True, False))
        self.assertEqual(loaded.reply["outputs"], [{
            "shape": [4, 8], "strides": [8, 1], "dtype": "float32", "offset": 0, "bytes": 128}])

    def test_attention_in_eval_repeats_itself(self):
        """Its fused form is not taken under a mode: the references take none."""
        for layer, call in (("MultiheadAttention(32, 4, batch_first=True)", "self.a(x, x, x, need_weights=False)[0]"),
                            ("TransformerEncoderLayer(32, 4, 64, batch_first=True)", "self.a(x)")):
            text = task("return " + call, "[torch.randn(4, 10, 32)]", setup="self.a = torch.nn.%s; self.eval()" % layer)
            self.assertTrue(self.load(text).reply["deterministic"], layer)

    def test_parameters_and_buffers_are_in_their_share(self):
        text = task("return self.bn(self.fc(x))", "[torch.rand(8, 3)]",
                    setup="self.fc = nn.Linear(3, 5); self.bn = nn.BatchNorm1d(5)")
        loaded = self.load(text)
        self.assertEqual([(p["name"], p["kind"]) for p in loaded.reply["params"]][:4], [
            ("fc.weight", "parameter"), ("fc.bias", "parameter"),
            ("bn.weight", "parameter"), ("bn.bias", "parameter")])
        self.assertEqual([p["name"] for p in loaded.reply["params"] if p["kind"] == "buffer"],
                         ["bn.running_mean", "bn.running_var", "bn.num_batches_tracked"])
        self.assertEqual(loaded.reply["param_count"], 15 + 5 + 10)
        self.assertTrue(all(p["offset"] % 256 == 0 for p in loaded.reply["params"]))
        self.assertEqual(loaded.param("bn.running_var").tolist(), [1.0] * 5)
        self.assertIn("BatchNorm is in TRAINING mode (bn): ", " ".join(loaded.reply["notes"]))
        self.assertIn("self.eval()", " ".join(loaded.reply["notes"]))
        first = loaded.param("fc.weight").tolist()
        self.assertEqual(self.load(text).param("fc.weight").tolist(), first)
        self.assertNotEqual(self.load(text, init_seed=8).param("fc.weight").tolist(), first)

    def test_init_inputs_may_be_keywords(self):
        text = PLAIN.replace("def forward", "def __init__(self, k):\n            super()"
                             ".__init__()\n            self.k = k\n        def forward")
        text = text.replace("x * 2", "x * self.k").replace("return []", "return {'k': 3}")
        self.assertTrue(self.load(text).reply["ok"])

    def test_an_output_that_changes_from_run_to_run_is_reported(self):
        reply = self.load(task("import time; return x, x + time.perf_counter_ns() % 1000003",
                               "[torch.rand(4)]")).reply
        self.assertFalse(reply["deterministic"])
        self.assertIn("output 2 changes from run to run", " ".join(reply["notes"]))

    def test_dropout_is_repeatable_but_random(self):
        reply = self.load(task("return F.dropout(x, 0.5)", "[torch.rand(64)]")).reply
        self.assertEqual((reply["deterministic"], reply["random"]), (True, True))
        self.assertIn("random state", " ".join(reply["notes"]))

    def test_a_module_with_dropout_is_said_to_be_in_training_mode(self):
        text = task("return self.l(x)", "[torch.rand(2, 3, 8)]", setup="self.l = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.25)")
        reply = self.load(text).reply
        self.assertTrue(reply["random"])
        self.assertRegex(" ".join(reply["notes"]), r"in TRAINING mode, and its dropout draws \(l\.self_attn, p=0\.25.* self\.eval\(\)")

    def test_an_output_that_does_not_depend_on_the_inputs_is_reported(self):
        for forward, made, constant, words in (
                ("return x * 2", "[torch.rand(64)]", False, None),
                ("return F.dropout(x, 0.5)", "[torch.rand(64)]", False, None),
                ("return (x.sum() > 32).int()", "[torch.rand(64)]", False, None),
                ("return torch.relu(x - 9)", "[torch.rand(64)]", True,
                 "the output is the same for different inputs: any constant passes"),
                ("return x * 2", "[torch.ones(64), 3]", True, "the same inputs for every seed"),
                ("return x * 2", "[torch.rand(0, 4)]", True, "the inputs have no elements"),
                ("return x + torch.rand(64)", "[torch.ones(64)]", True, "the same inputs")):
            reply = self.load(task(forward, made)).reply
            self.assertIs(reply["constant"], constant, (forward, made))
            if words:
                self.assertIn(words, " ".join(reply["notes"]))
            else:
                self.assertNotIn("means little", " ".join(reply["notes"]))

    def test_an_output_whose_shape_depends_on_the_values_is_refused(self):
        for forward in ("return x[x > 0.5]", "return torch.nonzero(x > 0.5)", "return torch.unique((x * 9999).long())"):
            reply = self.refuse(task(forward, "[torch.rand(1000)]"))
            self.assertEqual(reply["name"], "task")
            self.assertRegex(reply["message"], r"foo\.py:9: output 1 has the shape \[.*\] for some inputs, \[.*\] for"
                                               r" others of the same shapes: return a tensor of a size")

    def test_where_only_unannounced_inputs_change_a_shape_these_are_left_out(self):
        loaded = self.load(task("return x[x > -1e4]", "[torch.rand(1000)]"))
        reply = self.host.call("inputs", seed=3, poison=1, case="nan")
        self.assertIn("the output has another shape", reply["refused"])
        self.assertTrue(loaded.inputs(3)["ok"] and loaded.compare()["ok"])


class Forms(TaskCase):
    """What forward takes and returns beside tensors, and how the judge sees it."""

    def outputs(self, forward, inputs="[torch.rand(4)]", **more):
        return [(s.get("name"), s["dtype"], s["shape"]) for s in self.load(task(forward, inputs, **more)).reply["outputs"]]

    def right(self, text, i=0):
        """A loaded task whose reference is in float64; eager PyTorch's own result passes."""
        loaded = self.load(text, weights_seed=5)
        loaded.inputs(3)
        reply = loaded.compare()
        self.assertEqual(reply["reference"], "float64", reply)
        self.assertLess(reply["outputs"][i]["eager"]["nrms"], 1e-5)
        return loaded

    def test_outputs_of_any_form_are_numbered_and_named(self):
        head = ("import dataclasses, collections\nPair = collections.namedtuple('Pair', 'a b')\n"
                "@dataclasses.dataclass\nclass Out:\n    y: object\n    rest: object")
        self.assertEqual(self.outputs("return Out(x, {'p': Pair(x + 1, None), 'l': [x > 0, (2, 2.5, True)]})", head=head), [
            ("y", "float32", [4]), ("rest.p.a", "float32", [4]), ("rest.l[1]", "bool", [4]),
            ("rest.l[2][1]", "int64", []), ("rest.l[2][2]", "float32", []), ("rest.l[2][3]", "bool", [])])

    def test_a_number_that_was_read_from_a_tensor_is_judged_in_double_precision(self):
        self.right(task("return x.sum().item()", "[torch.rand(1000)]"))

    def test_complex_tensors_are_pairs_of_real_numbers(self):
        loaded = self.right(task("return torch.fft.fft(x) * args[1] * self.w",
                                 "[torch.rand(8), torch.randn(8, dtype=torch.complex64)]",
                                 setup="self.w = nn.Parameter(torch.randn(8, dtype=torch.complex64))"))
        self.assertEqual([s["shape"] for s in loaded.reply["inputs"]], [[8], [8, 2]])
        self.assertEqual((loaded.reply["outputs"][0]["shape"], loaded.reply["params"][0]["shape"]), ([8, 2], [8, 2]))
        import torch
        x, y, w = (torch.view_as_complex(t) if t.dim() == 2 else t
                   for t in (loaded.input(0), loaded.input(1), loaded.param("w")))
        loaded.output()[:] = torch.view_as_real(torch.fft.fft(x) * y * w)
        self.assertLess(loaded.compare()["outputs"][0]["nrms"], 1e-6)

    def test_inputs_with_names(self):
        text = task("return x", "{'x': torch.rand(4), 'more': {'w': torch.rand(4), 'k': 3}}").replace(
            "*args):\n        x = args[0]", "x, more):\n        x = x * more['w'] + more['k']")
        inputs = self.right(text).reply["inputs"]
        self.assertEqual([s["name"] for s in inputs], ["x", "more"])
        self.assertEqual([s["name"] for s in inputs[1]["items"]], ["w", "k"])
        self.assertEqual(inputs[1]["items"][1]["value"], 3)

    def test_tuples_with_names_and_dataclasses_reach_forward_as_they_are(self):
        head = ("import dataclasses, collections\nPair = collections.namedtuple('Pair', 'a b')\n"
                "@dataclasses.dataclass\nclass In:\n    y: object\n    pair: Pair")
        self.right(task("assert isinstance(x, In) and isinstance(x.pair, Pair); return x.y * x.pair.a + x.pair.b",
                        "[In(torch.rand(4), Pair(torch.rand(4), 2))]", head=head))

    def test_lazy_modules_know_their_weights(self):
        loaded = self.right(task("return self.l(x)", "[torch.rand(4, 6)]", setup="self.l = nn.LazyLinear(3)"))
        self.assertEqual([p["shape"] for p in loaded.reply["params"]], [[3, 6], [3]])

    def test_gradients(self):
        for forward in ("y = self.l(x).tanh(); y.backward(args[1]); return x.grad, self.l.weight.grad",
                        "return torch.autograd.grad(self.l(x).pow(2).sum(), [x, self.l.weight])"):
            loaded = self.right(task(forward, "[torch.rand(4, 6, requires_grad=True), torch.rand(4, 3)]",
                                     setup="self.l = nn.Linear(6, 3)"), i=1)
            self.assertTrue(loaded.reply["deterministic"], "gradients of earlier calls were added")
            self.assertIn("mm", " ".join(e["op"] for e in loaded.reply["graph"]))

    def test_what_a_forward_that_returns_nothing_wrote_is_its_output(self):
        loaded = self.right(task("args[1].copy_(x * 2)", "[torch.rand(4), torch.zeros(4)]"))
        self.assertIn("what it wrote, input 2, is its output", " ".join(loaded.reply["notes"]))
        loaded.output()[:] = loaded.input() * 2
        self.assertEqual(loaded.compare()["outputs"][0]["nrms"], 0)

    def test_outputs_whose_shape_depends_on_data_are_refused(self):
        for forward in ("return x[x > 0.5]", "return torch.nonzero(x > 0.5)", "return x.masked_select(x > 0.5)"):
            message = self.refuse(task(forward, "[torch.rand(40)]"))["message"]
            self.assertRegex(message, r"foo.py:\d+: output 1 has the shape \[\d+(, 1)?\] for some inputs, \[\d+(, 1)?\] for others"
                             " of the same shapes: return a tensor of a size that does not depend on data")
        self.assertTrue(self.load(task("return torch.where(x > 0.5, x, 0)", "[torch.rand(40)]")).reply["ok"])

    def test_seeds_of_its_own_do_not_make_the_inputs_the_same_for_ever(self):
        head = "import random\nfrom torch import manual_seed as begin"
        for made in ("torch.manual_seed(0), [torch.rand(4)]", "begin(0), [torch.rand(4)]",
                     "random.seed(1), [torch.full((4,), random.random())]",
                     "0, [torch.rand(4, generator=torch.Generator().manual_seed(1))]"):
            loaded = self.load(task("return x * 2", "(%s)[1]" % made, head=head))
            self.assertFalse(loaded.reply["constant"], made)
            self.assertIn("get_inputs() seeds a generator itself", " ".join(loaded.reply["notes"]))
            loaded.inputs(3)
            first = loaded.input().tolist()
            loaded.inputs(4)
            self.assertNotEqual(loaded.input().tolist(), first)
            loaded.inputs(3)
            self.assertEqual(loaded.input().tolist(), first, "one seed, two kinds of inputs")

    def test_cuda_is_the_device_that_there_is(self):
        self.right(task("return x * torch.ones(4, device='cuda') + self.w.to('cuda:0') + args[1].cuda()",
                        "[torch.rand(4).cuda(), torch.rand(4, device=torch.device('cuda'), pin_memory=True)]",
                        setup="self.w = nn.Parameter(torch.rand(4)).cuda(); self.cuda()"))

    def test_a_file_with_a_byte_order_mark(self):
        self.right("\ufeff" + task("return x * 2", "[torch.rand(4)]"))


if __name__ == "__main__":
    unittest.main()
