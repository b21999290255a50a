"""What a person may see of a task: values, and how far an output is off as a picture."""
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "support"))

from hostcase import TaskCase, task

SOFTMAX = task("return torch.softmax(x, dim=1)", "[torch.randn(rows, 64)]", head="rows = 32")


class Peek(TaskCase):
    def test_what_peek_sees(self):
        loaded = self.load(task("return torch.log(x)", "[torch.tensor([-1., 0., 1., 2.]), 5, None]"))
        peek = lambda **k: self.host.call("peek", **k)
        self.assertIn("no inputs yet", peek(what="inputs", index=1)["message"])
        loaded.inputs(1)
        self.assertEqual(peek(what="inputs", index=1)["values"], [-1, 0, 1, 2])
        self.assertEqual(peek(what="inputs", index=1, offset=1, count=2)["values"], [0, 1])
        self.assertEqual(peek(what="inputs", index=2)["value"], 5)
        self.assertIs(peek(what="inputs", index=3)["none"], True)
        reply = peek(what="reference", index=1)
        self.assertEqual((reply["values"][:3], reply["dtype"]), ([None, "-inf", 0], "float64"))
        self.assertEqual(peek(what="eager", index=1)["dtype"], "float32")
        self.assertEqual(peek(what="outputs", index=1)["values"], [None] * 4)
        self.assertEqual(peek(what="outputs", index=2)["message"],
                         "peek: there are 1 outputs, no number 2")
        self.assertIn("not 'seeds'", peek(what="seeds", index=1)["message"])

    def test_a_picture_of_what_is_off_and_what_nothing_wrote(self):
        loaded = self.load(task("return 2 * x", "[torch.ones(4, 200)]"))
        loaded.inputs(1)
        picture = lambda **k: self.host.call("picture", **{"index": 1, "rows": 4, "columns": 10, **k})
        self.assertEqual(set(picture()["cells"]), {-1})                          # poison is no number
        loaded.output()[:] = 2
        self.assertEqual((set(picture()["cells"]), picture()["shape"]), ({0}, [4, 200]))
        loaded.output()[2, 45] = 5
        loaded.output()[3, 0] = float("inf")
        drawn = picture()
        self.assertEqual((drawn["rows"], drawn["columns"], drawn["cells"][20:40]), (4, 10, [0, 0, 1.5] + [0] * 7 + [-1] + [0] * 9))
        self.assertEqual(drawn["worst"], {"at": [3, 0], "got": "inf", "wanted": 2})
        loaded.output()[3, 0] = 2
        self.assertEqual(picture()["worst"], {"at": [2, 45], "got": 5, "wanted": 2})
        self.assertEqual(picture(index=2)["name"], "invalid")

    def test_a_picture_of_one_row_is_folded(self):
        loaded = self.load(task("return 2 * x", "[torch.ones(1000)]"))
        loaded.inputs(1)
        loaded.output()[:] = 2
        loaded.output()[260] = 1
        drawn = self.host.call("picture", index=1, rows=4, columns=10)
        self.assertEqual((drawn["rows"], drawn["columns"]), (4, 10))
        self.assertEqual([i for i, e in enumerate(drawn["cells"]) if e], [10])    # the first of the second 250
        self.assertEqual(drawn["worst"]["at"], [260])

    def test_baselines_need_a_gpu(self):
        self.load(SOFTMAX)
        reply = self.host.call("baselines", kinds=["eager"], samples=3, budget=1, seed=1)
        self.assertEqual((reply["ok"], reply["name"]), (False, "unsupported"))

    def test_after_unload_nothing_is_loaded(self):
        self.load(SOFTMAX)
        self.assertTrue(self.host.call("unload")["ok"])
        self.assertEqual(self.host.call("inputs", seed=1, poison=0)["name"], "invalid")


if __name__ == "__main__":
    unittest.main()
