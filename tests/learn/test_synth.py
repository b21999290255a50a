"""Synthesis: seeds found by looking, compositions from a number, what a task shows when it runs."""
import ast
import os
import random
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "python"))

import torch  # noqa: E402

from cawb_host.judge.time import baseline  # noqa: E402
from cawb_host.learn import arguments, draw, examine, similar, timed  # noqa: E402
from cawb_host.learn.catalogue import Catalogue  # noqa: E402

COUNTS, SHARES, RANKS = {"2": 1, "3": 1}, {"nn": 5, "torch": 3, "F": 2}, {"2": 1, "3": 1, "4": 1}
CATALOGUE = Catalogue()


def task(forward, inputs="torch.randn(8, 16)", init="pass"):
    return ("import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\nclass Model(nn.Module):\n"
            "    def __init__(self):\n        super().__init__()\n        %s\n    def forward(self, x):\n        return %s\n"
            "def get_inputs():\n    return [%s]\ndef get_init_inputs():\n    return []\n" % (init, forward, inputs))


def facts_of(code):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "task.py")
        with open(path, "w", encoding="utf-8") as file:
            file.write(code)
        return examine.run(path, {}, 7)


class Watch:
    """A stopwatch without a GPU: every call takes two seconds, and is made. To the host's clock a call takes `host`."""
    host = 1e-3
    made = 0

    def __init__(self, _device):
        self.calls = 0

    def wait(self):
        pass

    def launch_time(self, forward, args):
        self.calls += 1
        forward(*args)
        return 1e-3

    def call_time(self, forward, args):
        Watch.made += 1
        self.launch_time(forward, args)
        return Watch.host

    def batch(self, forward, inputs, _spin):
        return [(2.0 * self.launch_time(forward, args) / 1e-3, False) for args in inputs]


def times_of(code, kinds=("eager",), samples=5):
    kept, baseline.Stopwatch = baseline.Stopwatch, Watch
    try:
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "task.py")
            with open(path, "w", encoding="utf-8") as file:
                file.write(code)
            return timed.run(path, torch.device("cpu"), kinds, samples, 1.0, 1)
    finally:
        baseline.Stopwatch = kept


class Times(unittest.TestCase):
    def test_a_kind_is_its_median_and_how_many(self):
        self.assertEqual(times_of(task("torch.relu(x)")), {"eager": {"seconds": 2.0, "samples": 5}})

    def test_a_call_that_takes_long_is_made_twice(self):
        Watch.host, Watch.made = 3.0, 0
        try:
            self.assertEqual(times_of(task("torch.relu(x)")), {"eager": {"seconds": 3.0, "samples": 1}})
            self.assertEqual(Watch.made, 2)
        finally:
            Watch.host = 1e-3

    def test_what_does_not_run_says_why_for_that_kind_alone(self):
        found = times_of(task("torch.relu(x) if not torch.compiler.is_compiling() else x.nothing"), ("compile", "eager"))
        self.assertIn("nothing", found["compile"]["failed"])
        self.assertEqual(found["eager"]["seconds"], 2.0)

    def test_what_cannot_be_loaded_fails_for_all_kinds(self):
        found = times_of("import torch\n1 / 0\n", ("eager", "compile"))
        self.assertEqual(sorted(found), ["compile", "eager"])
        for each in found.values():
            self.assertIn("division by zero", each["failed"])


class Seeds(unittest.TestCase):
    def test_what_computes_is_a_seed_with_what_it_wants_and_gives(self):
        for name, wants, gives in (("nn.Linear", "any", "any"), ("torch.log", "positive", "any"), ("torch.exp", "any", "positive"),
                                   ("F.sigmoid", "any", "unit"), ("torch.acosh", "above", "positive"), ("nn.LSTM", "any", "any")):
            seed = CATALOGUE.seed(name)
            self.assertIsNotNone(seed, name)
            self.assertEqual((seed.wants, seed.gives), (wants, gives), name)

    def test_what_is_random_constant_or_changes_nothing_is_none(self):
        for name in ("nn.Dropout", "F.dropout", "torch.zeros_like", "torch.clone", "nn.Identity", "nn.Flatten", "torch.argmax",
                     "nn.LazyLinear", "torch.save", "torch.bernoulli"):
            self.assertIsNone(CATALOGUE.seed(name) if name in CATALOGUE.what else None, name)

    def test_forms_follow_from_the_schema(self):
        self.assertIn("x, dim", CATALOGUE.seed("torch.cumsum").forms[2])
        self.assertNotIn("x, y", CATALOGUE.seed("torch.cumsum").forms[2])
        self.assertIn("x, y", CATALOGUE.seed("torch.mul").forms[4])

    def test_a_sequence_without_a_batch_is_no_form(self):
        self.assertEqual(list(CATALOGUE.seed("nn.GRU").forms), [3])
        self.assertEqual(list(CATALOGUE.seed("nn.TransformerEncoderLayer").forms), [3])

    def test_constructors_get_what_the_shape_needs(self):
        given = arguments.constructor(torch.nn.Conv2d, (4, 8, 12, 16), random.Random(1), plain=True)
        self.assertEqual(given["in_channels"], 8)
        self.assertIsNone(arguments.constructor(torch.nn.Embedding, (4, 8), random.Random(1)))


class Draws(unittest.TestCase):
    def test_the_same_number_is_the_same_program_and_another_is_another(self):
        texts = [draw.draw(CATALOGUE, n, COUNTS, SHARES, RANKS)[0].text(4) for n in (5, 5, 6)]
        self.assertEqual(texts[0], texts[1])
        self.assertNotEqual(texts[0], texts[2])

    def test_programs_are_files_of_tasks_that_run_with_another_batch(self):
        for number in range(20, 26):
            program, _ = draw.draw(CATALOGUE, number, COUNTS, SHARES, {"2": 1, "3": 1})
            scope = {}
            exec(compile(program.text(3), "task", "exec"), scope)
            with torch.no_grad():
                out = scope["Model"](*scope["get_init_inputs"]())(*scope["get_inputs"]())
            self.assertEqual(out.shape[0], 3, program.ops)
            self.assertTrue(2 <= len(program.ops) <= 3)


class Facts(unittest.TestCase):
    def test_a_sound_task(self):
        facts = facts_of(task("F.gelu(self.fc(x))", init="self.fc = nn.Linear(16, 8)"))
        self.assertNotIn("failed", facts)
        self.assertTrue(facts["finite"] and facts["deterministic"])
        self.assertGreater(facts["depends"], 0.5)
        self.assertGreater(facts["idle"], 0.1)
        self.assertLess(facts["compiled"], 1e-5)

    def test_an_operator_without_effect_is_named(self):
        facts = facts_of(task("torch.relu(F.softplus(x))"))
        self.assertEqual(facts["idle"], 0.0)
        self.assertEqual(facts["idle_call"], "call 2 of forward")

    def test_of_a_binary_operation_both_operands_must_matter(self):
        self.assertEqual(facts_of(task("torch.maximum(x, x - 100)"))["idle"], 0.0)
        self.assertGreater(facts_of(task("torch.maximum(x, -x)"))["idle"], 0.1)

    def test_what_is_wrong_shows(self):
        self.assertEqual(facts_of(task("x.nosuch()"))["failed"], "eager")
        self.assertFalse(facts_of(task("torch.log(x)"))["finite"])
        self.assertEqual(facts_of(task("torch.exp(x * 1e4)"))["largest"], "inf")
        self.assertFalse(facts_of(task("x + torch.rand(8, 16, generator=G)").replace(
            "class Model", "G = torch.Generator()\nclass Model"))["deterministic"])
        self.assertLess(facts_of(task("F.softmax(x[:, :1], 1)"))["spread"], 1e-6)
        self.assertLess(facts_of(task("self.p * 2 + 0 * x", init="self.p = nn.Parameter(torch.randn(16))"))["depends"], 0.01)
        self.assertEqual(facts_of(task("x if bool(x.sum() > 0) else -x"))["failed"], "compile")


class Similarity(unittest.TestCase):
    def test_names_and_numbers_do_not_count_and_operators_do(self):
        one = task("F.gelu(self.fc(x))", init="self.fc = nn.Linear(16, 8)")
        sources = similar.Sources({"one": one, "other": task("torch.relu(x)")})
        ratio, name = sources.nearest(one.replace("fc", "layer").replace("16, 8", "128, 64"))
        self.assertEqual((ratio, name), (1.0, "one"))
        self.assertLess(sources.nearest(one.replace("gelu", "silu"))[0], 1.0)

    def test_the_linearised_tree_keeps_names_behind_torch_alone(self):
        words = similar.tokens(task("torch.relu(self.own(x))"))
        self.assertIn("relu", words)
        self.assertNotIn("own", words)
        self.assertNotIn("Model", words)


class Without(unittest.TestCase):
    def test_each_call_is_replaced_by_each_operand_in_its_place(self):
        found = [ast.unparse(ast.parse(s).body[3].body[1].body[0]) for _, s in examine.forwards(task("torch.add(F.gelu(x), x)[0]"))]
        self.assertEqual(sorted(found), ["return F.gelu(x)", "return torch.add(x, x)[0]", "return x"])


if __name__ == "__main__":
    unittest.main()
