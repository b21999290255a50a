"""`cawb report` of a training log in a real browser, and as CSV and Markdown."""
import csv
import json
import os
import subprocess
import tempfile
import unittest

from browsing import BROWSER, PROGRAM, Page
from reportcase import FILL


@unittest.skipUnless(BROWSER, "no Chromium (Debian's package chromium)")
@unittest.skipUnless(os.path.exists(PROGRAM), "no cawb at %s" % PROGRAM)
class Training(unittest.TestCase):
    def test_curves_of_a_training_log(self):
        with tempfile.TemporaryDirectory(prefix="cawb-report-", ignore_cleanup_errors=True) as folder:
            with open(os.path.join(folder, "log.jsonl"), "w") as file:
                for stage, steps in (("prior", 5), ("single", 20), ("agentic", 20)):
                    for step in range(steps):
                        more = {"loss": 1.0 / (1 + step)} if stage == "prior" else {"reward": step / 10.0 - 1, "entropy": 4.0 + step * 1e-5, "ratio_p1": 0.9, "ratio_p99.9": 1.0 + step}
                        file.write(json.dumps(dict(stage=stage, step=step, **more)) + "\n")
            subprocess.run([PROGRAM, "report", folder], check=True, stdout=subprocess.DEVNULL)
            page = Page(os.path.join(folder, "profile"))
            try:
                page.open(os.path.join(folder, "report.html"))
                self.assertEqual(page.run("document.querySelector('.headline').textContent"), "reward 0.45 in stage agentic, mean of its last 10 steps")
                drawn = page.run("""Object.values(Chart.instances).map((c) => { const a = c.chartArea; return [c.data.datasets.map((s) => s.label).join(), c.data.datasets.map((s) => s.data.length).join(),
                  c.getDatasetMeta(0).data.every((p) => p.x > a.left && p.x < a.right && p.y > a.top && p.y < a.bottom), c.scales.x.ticks.every((t) => Number.isInteger(t.value))]; })""")
                self.assertEqual(drawn, [["reward", "40", True, True], ["entropy", "40", True, True], ["ratio_p1,ratio_p99.9", "40,40", True, True], ["loss", "5", True, True]])
                alike = page.run("Object.values(Chart.instances).filter((c) => new Set(c.scales.y.ticks.map((t) => t.label)).size < c.scales.y.ticks.length).length")
                self.assertEqual(alike, 0)          # values that lie close have ticks that differ
                self.assertEqual(page.complaints(), [])
            finally:
                page.close()


class Text(unittest.TestCase):
    @unittest.skipUnless(os.path.exists(PROGRAM), "no cawb at %s" % PROGRAM)
    def test_csv_and_markdown(self):
        with tempfile.TemporaryDirectory() as folder:
            script = os.path.join(folder, "fill.lua")
            with open(script, "w") as file:
                file.write(FILL)
            subprocess.run([PROGRAM, script, folder + "/s", "5"], check=True)
            text = subprocess.run([PROGRAM, "report", folder + "/s", "--csv"], check=True, capture_output=True, text=True).stdout
            rows = list(csv.DictReader(text.splitlines()))
            self.assertEqual([r["ok"] for r in rows], ["true"] * 4 + ["false"])
            self.assertEqual(rows[4]["reason"], "outputs[1] <i>is</i> wrong")
            self.assertAlmostEqual(float(rows[0]["speedup_eager"]), 0.5 + 7919 % 1000 / 500)
            text = subprocess.run([PROGRAM, "report", folder + "/s", "--markdown"], check=True, capture_output=True, text=True).stdout
            self.assertIn("| a | 1 | 3 | 67%", text)
            self.assertIn("reported by its authors", text)
            self.assertTrue(text.startswith("### a on level_1.parquet, 3 tasks, cuda:0\n\n**1.15x [0.67, 2.00] as fast as the fastest"), text[:200])
            other = folder + "/other"
            subprocess.run([PROGRAM, script, other, "5", "my/own/suite.lua"], check=True)
            beside = subprocess.run([PROGRAM, "report", other, "--markdown"], check=True, capture_output=True, text=True).stdout
            self.assertNotIn("reported by its authors", beside)          # others' rates stand beside their benchmark alone
            self.assertNotIn("CUDA Agent", beside)
            tasks = [line for line in text.splitlines() if line.startswith("| task") and " best " not in line]
            self.assertEqual(tasks, [
                "| task1 | k (cuBLAS) | pass | 990 [970, 1010] us | 2.00x +-0.04 | 1.50x +-0.03 | 1.0e-07 | 5 | 50% |",
                "| task2 | - | no candidate: no family | - | - | - | - | 5 | - |",
                "| task3 | k (cuBLAS) | pass | 990 [970, 1010] us | 0.67x +-0.02 | 1.50x +-0.03 | 3.0e-07 | 5 | - |"])
            wrong = subprocess.run([PROGRAM, "report", folder + "/s", "--csv", "--markdown"], capture_output=True, text=True)
            self.assertEqual(wrong.returncode, 2)


if __name__ == "__main__":
    unittest.main()
