"""`cawb report` as CSV and Markdown, and what it says of a folder without a store."""
import csv
import os
import subprocess
import tempfile
import unittest

from browsing import PROGRAM
from reportcase import FILL


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
            for where, said in ((folder, "there is no store in it"), (folder + "/none", "there is no such folder or file")):
                wrong = subprocess.run([PROGRAM, "report", where], capture_output=True, text=True)
                self.assertEqual((wrong.returncode, said in wrong.stderr), (2, True), wrong.stderr)


if __name__ == "__main__":
    unittest.main()
