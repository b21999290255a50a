"""The gallery of the manual (docs/gallery/make.py): a page for each recorded task, an index that leads to all, and nothing that is not recorded."""
import importlib.util
import json
import pathlib
import shutil
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
RECORD = "bench/results/door/gallery.jsonl"


class Gallery(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        spec = importlib.util.spec_from_file_location("make", ROOT / "docs/gallery/make.py")
        cls.make = make = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(make)
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="cawb-gallery-"))
        for name in (RECORD, "docs/gallery/README.md"):
            (cls.folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, cls.folder / name)
        cls.count = make.main(cls.folder)
        cls.rows = [json.loads(line) for line in (ROOT / RECORD).read_text().splitlines()]

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def test_each_recorded_task_has_a_page_with_its_kernels_and_figures(self):
        self.assertEqual(self.count, len(self.rows))
        self.assertGreaterEqual(self.count, 30)
        for row in self.rows:
            text = (self.folder / "docs/gallery" / (pathlib.PurePosixPath(row["task"]).stem + ".md")).read_text()
            result = self.make.duration(row["seconds"]) + " modelled" if row["ok"] else "wrong: "
            for words in (result, "## Graph", row["kernels"][0], "  1  " + row["source"].strip().splitlines()[0]):
                self.assertIn(words, text, row["task"])

    def test_a_verdict_names_both_of_pytorchs_ways(self):
        for eager, compiled, words in ((1.5, 1.2, "right, faster than eager PyTorch, faster than torch.compile"),
                                       (2.4, 0.8, "right, faster than eager PyTorch, slower than torch.compile"),
                                       (1.02, None, "right, as fast as eager PyTorch")):
            self.assertEqual(self.make.verdict({"ok": True, "verdict": "right", "eager": eager, "compile": compiled}), words)
        self.assertEqual(self.make.verdict({"ok": False, "reason": "so"}), "wrong: so")

    def test_times_have_a_unit_that_fits(self):
        self.assertEqual([self.make.duration(s) for s in (None, 7.2e-6, 1.14e-3)], ["-", "7.2 us", "1.14 ms"])

    def test_the_index_leads_to_all(self):
        text = (self.folder / "docs/gallery/README.md").read_text()
        for row in self.rows:
            self.assertIn("(%s.md)" % pathlib.PurePosixPath(row["task"]).stem, text)
        self.assertIn("| The sum of each row of a matrix: the smallest reduction there is. |", text)

    def test_what_was_recorded_is_of_the_tasks_as_they_are(self):
        for row in self.rows:
            self.assertEqual(row["source"], (ROOT / row["task"]).read_text(), "%s changed: record it again" % row["task"])


if __name__ == "__main__":
    unittest.main()
