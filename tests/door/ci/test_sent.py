"""What can be sent to the judge and what cannot: an object's name, its files, and examples as text."""
import importlib
import importlib.machinery
import os
import runpy
import sys
import types
import unittest

import torch

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
sys.path[:0] = [os.path.join(ROOT, "python"), os.path.join(ROOT, "tests", "support")]

import cawb  # noqa: E402  pylint: disable=wrong-import-position
from cawb.ci import likeness, named, sources, written  # noqa: E402  pylint: disable=wrong-import-position
from sent import Package  # noqa: E402  pylint: disable=wrong-import-position


def setUpModule():
    global package, ops
    package = Package()
    ops = package.rows


def tearDownModule():
    package.remove()


class Names(unittest.TestCase):
    def place(self, value):
        return str(named.named(value, "the kernel"))

    def test_what_has_a_name_is_found_under_it(self):
        self.assertEqual(self.place(ops.softmax), "ops.rows:softmax")
        self.assertEqual(self.place(ops.Scaled), "ops.rows:Scaled")
        self.assertEqual(self.place("ops.rows:fast"), "ops.rows:fast")
        self.assertEqual(self.place(ops.anonymous), "ops.rows:anonymous")
        self.assertEqual(self.place(ops.standing), "ops.rows:standing")
        self.assertEqual(self.place(ops.twice), "ops.rows:twice")

    def test_a_script_s_name_for_a_thing_of_a_module_is_not_taken(self):
        for name in ("__main__", "__mp_main__"):
            held = types.ModuleType(name)
            held.mine, held.__file__ = ops.launcher, os.path.join(package.folder, "script.py")
            before = sys.modules.get(name)
            sys.modules[name] = held
            self.addCleanup(sys.modules.__setitem__, name, before) if before else self.addCleanup(sys.modules.pop, name)
            self.assertEqual(self.place(ops.launcher), "ops.rows:launcher")
        self.assertEqual(self.place(torch.relu), "torch:relu")

    def test_what_a_compiler_made_is_not_taken_for_what_it_was_made_of(self):
        self.assertEqual(self.place(ops.compiled), "ops.rows:compiled")

    def test_what_cannot_be_sent_says_what_to_do(self):
        def local(x):
            return x

        class JITFunction:
            """As Triton calls its own."""
        for value, what in ((local, "move it to module level"), (lambda x: x, "give it one at module level"),
                            (ops.Scaled(4), "pass its class, with init="), (ops.Scaled(4).forward, "wrap it in a function"),
                            (torch.compile(local), "module level"), (JITFunction(), "launches it"), ("ops.rows:nosuch", "package.module:name")):
            with self.assertRaisesRegex(cawb.NotSent, "the kernel.*" + what):
                self.place(value)


class Files(unittest.TestCase):
    def test_a_module_comes_with_what_it_imports_and_names(self):
        found = sources.Sources()
        found.add("ops.rows", os.path.join(package.folder, "ops/rows.py"))
        self.assertEqual(set(found.files()), {"ops/__init__.py", "ops/rows.py", "ops/parts.py"})
        found.add("ops.native", os.path.join(package.folder, "ops/native.py"))
        self.assertEqual(set(found.native), {"ops/csrc/twice.cpp", "ops/csrc/factor.h"})
        found.add_more(["ops/csrc/*.cu"], package.folder)
        self.assertIn("ops/csrc/unnamed.cu", found.files())
        with self.assertRaisesRegex(cawb.NotSent, "no such file below"):
            found.add_more(["nosuch/*.cu"], package.folder)

    def test_what_is_installed_stays_where_it_is(self):
        found = sources.Sources()
        found.add("torch", torch.__file__)
        self.assertEqual(found.files(), {})

    def test_a_module_in_a_folder_of_its_own_name_is_found(self):
        below = os.path.join(package.folder, "same")
        written.write(os.path.join(below, "same.py"), "import beside\n")
        written.write(os.path.join(below, "beside.py"), "")
        sys.path.insert(0, below)
        self.addCleanup(sys.path.remove, below)
        importlib.import_module("same")
        written.write(os.path.join(package.folder, "uses_same.py"), "import same\nimport ops.parts\n")
        found = sources.Sources()
        found.add("uses_same", os.path.join(package.folder, "uses_same.py"))
        self.assertEqual(set(found.files()), {"uses_same.py", "same.py", "beside.py", "ops/__init__.py", "ops/parts.py"})

    def test_an_extension_that_was_built_in_place_is_noted(self):
        path = os.path.join(package.folder, "ops/_C" + importlib.machinery.EXTENSION_SUFFIXES[0])
        written.write(path, "")
        written.write(os.path.join(package.folder, "ops/uses.py"), "from ops import _C\n")
        found = sources.Sources()
        found.add("ops.uses", os.path.join(package.folder, "ops/uses.py"))
        self.assertEqual(found.built, {"ops._C": path})
        self.assertNotIn("ops/_C.py", found.files())


class Examples(unittest.TestCase):
    form = runpy.run_path(written.FORM)

    def drawn(self, example):
        return eval(likeness.literal(example, "examples"), dict(self.form))         # pylint: disable=eval-used

    def test_tensors_are_drawn_anew_and_alike(self):
        for example in (3 + torch.randn(64, 100), torch.rand(3000, dtype=torch.float64), torch.randn(9).bfloat16(),
                        torch.randn(5, 4, dtype=torch.complex64), torch.zeros(0, 3)):
            new = self.drawn(example)
            self.assertEqual((new.shape, new.dtype), (example.shape, example.dtype))
            self.assertFalse(example.numel() and torch.equal(new, example))
        self.assertAlmostEqual(self.drawn(3 + torch.randn(64, 100)).mean().item(), 3, delta=0.2)
        self.assertAlmostEqual(self.drawn(torch.randn(64, 100)).std().item(), 1, delta=0.1)

    def test_whole_numbers_and_masks_stay_of_their_kind(self):
        self.assertEqual(set(self.drawn(torch.randint(3, 7, (2000,))).tolist()), {3, 4, 5, 6})
        self.assertEqual(self.drawn(torch.rand(50) > 0.5).dtype, torch.bool)
        mask = torch.zeros(400).masked_fill(torch.rand(400) > 0.5, float("-inf"))
        self.assertEqual(set(self.drawn(mask).tolist()), {0.0, float("-inf")})
        self.assertTrue(self.drawn(torch.randn(4, requires_grad=True)).requires_grad)

    def test_other_values_stay_as_they_are(self):
        value = {"a": (1, 2.5, "x"), "b": [None, float("inf")], "c": ()}
        self.assertEqual(self.drawn(value), value)
        with self.assertRaisesRegex(cawb.NotSent, "pass a function of a seed"):
            self.drawn([object()])


if __name__ == "__main__":
    unittest.main()
