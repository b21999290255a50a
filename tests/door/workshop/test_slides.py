"""The workshop's notebook: its cells run one after the other, without Jupyter, the simulator counts what the pictures say, and the slides
that are made of it stand in a browser. With Jupyter in this Python the notebook is executed by it too.
"""
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "support"))

from browsing import BROWSER, PROGRAM, ROOT, Page

WORKSHOP = os.path.join(ROOT, "examples", "workshop")
sys.path[:0] = [WORKSHOP, os.path.join(ROOT, "python")]
os.environ["CAWB_PROGRAM"] = PROGRAM
sys.dont_write_bytecode = True
import cawb  # noqa: E402
import draw  # noqa: E402
import slides  # noqa: E402


class Draw(unittest.TestCase):
    def test_sectors_and_passes(self):
        self.assertEqual(draw.sectors([4 * t for t in range(32)]), [0, 1, 2, 3])
        self.assertEqual(draw.sectors([30], 4), [0, 1])
        self.assertEqual(draw.passes([4 * t for t in range(32)]), 1)
        self.assertEqual(draw.passes([8 * t for t in range(32)]), 2)
        self.assertEqual(draw.passes([0] * 32), 1)               # one word for all

    def test_pictures(self):
        self.assertIn("4 sectors of 32 bytes for one access of 128 bytes", draw.coalescing([4 * t for t in range(32)]).svg)
        self.assertEqual(draw.banks([128 * t for t in range(32)]).svg.count(draw.MOST), 32)
        held = draw.occupancy({"threads_per_block": 96, "resident_blocks": 5})
        self.assertIn("5 blocks of 3 warps: 15 of 64", held.svg)
        self.assertEqual(held.svg.count(draw.FREE), 49)
        bars = draw.bounds({"a<b": {"metrics": {"seconds": 2e-6}, "bound": {"memory": 1e-6, "launch": 2e-6}}}).svg
        self.assertIn("a&lt;b: 2.00 us modelled", bars)
        self.assertEqual(bars.count(draw.MOST), 1)


class Slides(unittest.TestCase):
    def test_cells_and_markdown(self):
        self.assertEqual(slides.run("x = 2\nprint(x)\nx + 1", {}), ("2\n", 3))
        self.assertEqual(slides.markdown("# A `b`\n\none *two*\n\n* x\n* y"),
                         "<h1>A <code>b</code></h1><p>one <em>two</em></p><ul><li>x</li><li>y</li></ul>")

    def test_a_python_without_the_client_takes_that_of_the_same_tree(self):
        words = "import sys; sys.path.insert(0, %r); import slides, cawb; print(cawb.__file__)" % WORKSHOP
        told = subprocess.run([sys.executable, "-E", "-S", "-c", words], cwd="/", capture_output=True, text=True, check=True)
        self.assertEqual(os.path.realpath(told.stdout.strip()), os.path.join(os.path.realpath(ROOT), "python", "cawb", "__init__.py"))

    @unittest.skipUnless(os.path.exists(PROGRAM), "no cawb at %s" % PROGRAM)
    def test_the_notebook_becomes_slides(self):
        with tempfile.TemporaryDirectory() as folder:
            out = os.path.join(folder, "slides.html")
            slides.main(out)                                     # its own assertions compare counts with the pictures
            with open(out, encoding="utf-8") as file:
                page = file.read()
            self.assertIn("sectors for each access: 32, then 4", page)
            self.assertIn("16.5 with 32 words in a row, 1 with 33", page)
            self.assertIn("13 blocks of 2 warps: 26 of 64", page)
            self.assertEqual(page.count("<svg"), 7)
            if BROWSER:
                self.look(out, folder)

    def look(self, out, folder):
        tab = Page(os.path.join(folder, "profile"))
        try:
            tab.open(out)
            seen = "[...document.querySelectorAll('section')].map((s) => getComputedStyle(s).display).join()"
            self.assertTrue(tab.run(seen).startswith("block,none,"))
            tab.run("dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowRight' }))")
            self.assertTrue(tab.run(seen).startswith("none,block,none"))
            self.assertEqual(tab.complaints(), [])
        finally:
            tab.close()

    @unittest.skipUnless(importlib.util.find_spec("nbclient") and importlib.util.find_spec("ipykernel"), "no Jupyter")
    def test_jupyter_executes_it(self):
        subprocess.run([sys.executable, "-m", "jupyter", "execute", os.path.join(WORKSHOP, "notebook.ipynb")], check=True,
                       env=dict(os.environ, PYTHONPATH=os.path.join(ROOT, "python")))

    def test_nothing_of_a_run_is_stored_in_it(self):
        with open(os.path.join(WORKSHOP, "notebook.ipynb"), encoding="utf-8") as file:
            for cell in json.load(file)["cells"]:
                self.assertFalse(cell.get("outputs"), cell["id"])


class Profile(unittest.TestCase):
    def test_what_is_asked_wrongly(self):
        with self.assertRaisesRegex(TypeError, "give a candidate, or source= and plan="):
            cawb.profile("task.py")
        with self.assertRaisesRegex(cawb.Failed, "nosuch.py"):
            cawb.profile("nosuch.py", "kernels/softmax/v1_thread_per_row", device="sim:h100")


if __name__ == "__main__":
    unittest.main()
