"""`cawb report` in a real browser: it renders, sorts, filters, complains of nothing, fits a
telephone, follows a dark system, and stays usable with 10,000 turns. Chromium is driven over
its debugging pipe; without one, this is skipped.
"""
import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))

from browsing import BROWSER, PROGRAM, Page
from reportcase import FILL

TURNS = 10000


@unittest.skipUnless(BROWSER, "no Chromium (Debian's package chromium)")
@unittest.skipUnless(os.path.exists(PROGRAM), "no cawb at %s" % PROGRAM)
class Report(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="cawb-report-")
        script, cls.store = os.path.join(cls.folder, "fill.lua"), os.path.join(cls.folder, "store")
        with open(script, "w") as file:
            file.write(FILL)
        subprocess.run([PROGRAM, script, cls.store, str(TURNS)], check=True)
        subprocess.run([PROGRAM, "report", cls.store], check=True, stdout=subprocess.DEVNULL)
        cls.page = Page(os.path.join(cls.folder, "profile"))
        cls.page.open(os.path.join(cls.store, "report.html"))

    @classmethod
    def tearDownClass(cls):
        cls.page.close()
        shutil.rmtree(cls.folder, ignore_errors=True)

    def first_cells(self, name, column):
        return self.page.run("[...document.querySelectorAll('#table-%s tbody tr:not(.more)')].slice(0, 5).map((r) => r.cells[%d].textContent)"
                             % (name, column))

    def lines_below(self, name):
        return self.page.run("[...document.querySelectorAll('#table-%s tbody tr.more')].map((r) => r.textContent)" % name)

    def texts(self, selector):
        return self.page.run("[...document.querySelectorAll(%s)].map((e) => e.textContent)" % json.dumps(selector))

    def click(self, name, column):
        self.page.run("document.querySelectorAll('#table-%s th button')[%d].click()" % (name, column))

    def filter(self, name, words):
        self.page.run("(() => { const f = document.getElementById('filter-%s'); f.value = %s; f.dispatchEvent(new Event('input')); })()"
                      % (name, json.dumps(words)))

    def tearDown(self):
        self.assertEqual(self.page.complaints(), [])

    def test_charts_are_drawn(self):
        for chart in ("chart-speed", "chart-cost", "chart-error", "chart-roof", "chart-fast-0", "chart-tasks-0"):
            inked = self.page.run("""(() => { const c = document.getElementById('%s'), d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
              let n = 0; for (let i = 3; i < d.length; i += 4) if (d[i]) n++; return n / (c.width * c.height); })()""" % chart)
            self.assertGreater(inked, 0.005, chart)

    def test_what_is_told_and_what_is_not_guaranteed(self):
        self.assertEqual(self.lines_below("turns")[:3], ["flushes denormal numbers to zero", "its bits differ from run to run", "outputs[1] <i>is</i> wrong"])
        text = self.page.run("document.getElementById('lacks').textContent")
        self.assertEqual(text, "What this machine lacks, so that it is not guaranteed: no control group <i>")
        self.assertIn("confined by namespaces, seccomp", self.page.run("document.getElementById('run').textContent"))

    def test_turns_sort_both_ways(self):
        self.click("turns", 4)
        up = [float(x.split("x")[0]) for x in self.first_cells("turns", 4)]
        self.assertEqual(up, sorted(up))
        self.click("turns", 4)
        down = [float(x.split("x")[0]) for x in self.first_cells("turns", 4)]
        self.assertEqual(down, sorted(down, reverse=True))
        self.assertGreater(down[0], up[-1])
        self.click("turns", 0)
        self.assertEqual(self.first_cells("turns", 0), ["1", "2", "3", "4", "5"])

    def test_turns_filter(self):
        self.filter("turns", "rejected k/v9995")
        self.assertEqual(self.first_cells("turns", 0), ["9995"])
        self.filter("turns", "rejected")
        self.assertIn("%d of %d" % (TURNS // 5, TURNS), self.page.run("document.getElementById('run').textContent"))
        self.filter("turns", "")

    def test_suite_sorts_and_filters(self):
        self.filter("suite0", "no candidate")
        self.assertEqual(self.first_cells("suite0", 0), ["task2"])
        self.filter("suite0", "")
        self.click("suite0", 4)
        self.assertEqual(self.first_cells("suite0", 0), ["task3", "task1", "task2"])   # without a time: last
        self.click("suite0", 4)
        self.assertEqual(self.first_cells("suite0", 0), ["task1", "task3", "task2"])
        self.assertIn("reported by its authors, other hardware", self.page.run("document.getElementById('suites').textContent"))

    def test_speedups_have_their_errors(self):
        self.assertEqual(self.first_cells("suite0", 4), ["2.00x \u00b10.04", "-", "0.67x \u00b10.02"])

    def test_rates_have_their_intervals(self):
        rows = self.page.run("[...document.querySelectorAll('#table-rates0 tbody tr')].map((r) => [...r.cells].slice(0, 5).map((c) => c.textContent))")
        self.assertEqual([row[:2] for row in rows], [["1", "eager"], ["1", "compile"], ["1", "the fastest at equal error"]])
        self.assertRegex(rows[0][2], r"^33% \[\d+, \d+\]$")
        self.assertRegex(rows[0][3], r"^1\.15x \[0\.67, 2\.00\]$")

    def test_a_task_leads_to_its_run(self):
        self.page.run("chooser.value = ''; document.querySelector('#table-suite0 tbody button').click()")
        self.assertEqual(self.page.run("chooser.value"), "0")

    def test_charts_of_a_run_that_is_left_are_gone(self):
        charts = "Object.keys(Chart.instances).length"
        before = self.page.run(charts)
        self.page.run("for (let i = 0; i < 3; i++) { chooser.value = '0'; chooser.dispatchEvent(new Event('change')); }")
        self.assertEqual(self.page.run(charts), before)

    def opened(self, turn):
        self.page.run("(() => { const c = document.getElementById('only-best'); if (c.checked) c.click(); document.getElementById('turn-%d').open = true; })()" % turn)
        self.page.wait("document.querySelector('#turn-%d pre')" % turn)

    def test_source_diff(self):
        self.opened(2)
        self.assertEqual(sorted(self.texts("#turn-2 .add, #turn-2 .del")), ["+ line 2 </script>", "- line two"])

    def test_a_failed_turn_has_its_note_reason_and_changes(self):
        self.opened(5)
        self.assertEqual(self.texts("#turn-5 .said"), ["tried a wider tile", "outputs[1] <i>is</i> wrong"])
        self.assertEqual(self.texts("#turn-5 pre")[0], "at element 7")
        self.assertEqual(sorted(self.texts("#turn-5 .add, #turn-5 .del")), ["+ line 5", "- line two"])

    def test_runs_of_one_task_are_told_apart(self):
        told = self.page.run("[...chooser.options].map((o) => o.textContent)")
        self.assertEqual(len(set(told)), len(told))
        self.assertRegex(told[0], r" by \w+, \d{4}-\d\d-\d\d \d\d:\d\d:\d\d: ")

    def test_the_answer_comes_first(self):
        first = self.page.run("document.querySelector('#run').firstElementChild.id")
        self.assertEqual(first, "answer")
        self.assertEqual(self.texts("#answer .headline"), ["1.25x +-0.03 as fast as torch.compile, the fastest baseline that is no less accurate"])
        lines = self.texts("#answer li")
        self.assertIn("how sure: measured; 95% interval 1.22x to 1.27x", lines)
        self.assertTrue(any(re.search(r"normalised rms against float64; eager PyTorch's is 2.0e-08$", line) for line in lines), lines)
        self.assertTrue(any(line.startswith("model: 10000 replies") for line in lines), lines)
        self.assertEqual(self.texts("#answer-suite0 .headline"),
                         ["1.15x [0.67, 2.00] as fast as the fastest baseline that is no less accurate, geometric mean of the 2 of 3 tasks with a right candidate that was timed"])
        self.assertIn("3 of 4 tasks have ended so far", self.texts("#answer-suite0 li"))

    def test_what_bounds_each_candidate(self):
        self.assertEqual(self.texts("#bounds .bound:first-child .part span"), ["DRAM %.0f%%" % (100 * 5e-6 / (1e-5 / 2.338)),
                         "the launch itself %.0f%%" % (100 * 4e-6 / (1e-5 / 2.338)), "L2 2%"])
        self.assertEqual(self.page.run("document.querySelectorAll('#bounds .longest').length"), self.page.run("document.querySelectorAll('#bounds .bound').length"))

    def test_the_conversation_with_its_calls(self):
        self.assertEqual(self.texts("#talk .call b"), ["write_file"])
        self.assertIn("path: kernel.cu", self.texts("#talk .call p")[0])
        self.assertEqual(self.texts("#talk .failed .who"), ["tool measure, failed  turn 5: rejected at verify, reward -1"])
        self.assertIn("900 tokens in, 100 out, $0.2500", self.texts("#talk .assistant .who")[0])

    def shown(self, chart):
        """Of a chart: its x ticks, and for each set its label, its points, and how many lie outside of the frame."""
        return self.page.run("""(() => { const c = Chart.getChart('%s'), a = c.chartArea; return { ticks: c.scales.x.ticks.map((t) => t.value), sets: c.data.datasets.map((s, i) =>
          [s.label, s.data.length, c.getDatasetMeta(i).data.filter((p) => p.x < a.left + 2 || p.x > a.right - 2 || p.y < a.top + 2 || p.y > a.bottom - 2).length]) }; })()""" % chart)

    def test_charts_hold_their_points(self):
        for chart in ("chart-speed", "chart-cost", "chart-error", "chart-roof", "chart-tasks-0"):
            for label, count, outside in self.shown(chart)["sets"]:
                self.assertGreater(count, 0, (chart, label))
                if label not in ("as fast", "seconds taken", "tokens", "dollars"):      # lines across all of the frame, or from nothing
                    self.assertEqual(outside, 0, (chart, label))
        speed = self.shown("chart-speed")
        self.assertEqual([n for label, n, _ in speed["sets"] if label == "rejected"], [TURNS // 5])
        self.assertTrue(all(float(x).is_integer() for x in speed["ticks"]), speed["ticks"])

    def test_a_profile_has_no_zeros(self):
        self.assertIn("1 metrics; 1 more are 0 in every profile", self.page.run("document.getElementById('run').textContent"))
        self.assertEqual(self.first_cells("profile", 0), ["registers"])

    def choose(self, name, value):
        self.page.run("(() => { const s = document.getElementById('%s'); s.value = '%s'; s.dispatchEvent(new Event('change')); })()" % (name, value))

    def test_filters_hold_for_the_dots_too(self):
        dots = "Chart.getChart('chart-tasks-0').data.datasets.filter((s) => s.label !== 'as fast').flatMap((s) => s.data.map((p) => p.what.split(':')[0]))"
        self.assertEqual(sorted(self.page.run(dots)), ["task1", "task3"])
        self.choose("verdict-suite0", "no candidate")
        self.assertEqual(self.first_cells("suite0", 0), ["task2"])
        self.assertIsNone(self.page.run("document.getElementById('chart-tasks-0')"))
        self.choose("verdict-suite0", "")
        self.filter("suite0", "task3")
        self.assertEqual(self.page.run(dots), ["task3"])
        self.filter("suite0", "")

    def test_it_is_called_by_what_was_run(self):
        self.assertEqual(self.texts("h1"), ["a on level_1.parquet, 3 tasks, cuda:0"])

    def test_what_is_in_the_store_is_text(self):
        self.assertEqual(self.page.run("document.querySelectorAll('td i, td b').length"), 0)
        self.assertIn("H100 </script><b>", self.page.run("document.getElementById('run').textContent"))

    def test_a_narrow_screen_does_not_scroll_sideways(self):
        self.page.call("Emulation.setDeviceMetricsOverride", width=400, height=800, deviceScaleFactor=1, mobile=False)
        try:
            self.page.wait("document.documentElement.clientWidth <= 400")
            self.page.wait("document.documentElement.scrollWidth <= 400")
        finally:
            self.page.call("Emulation.clearDeviceMetricsOverride")

    def test_dark(self):
        ground = "getComputedStyle(document.body).backgroundColor"
        drawn = "Chart.getChart('chart-speed').options.scales.x.ticks.color === colour('faint')"
        self.filter("turns", "rejected k/v9995")
        light = self.page.run(ground)
        self.page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
        try:
            self.page.wait(ground + " !== %s" % json.dumps(light))
            self.page.wait(drawn)
            self.assertEqual(self.first_cells("turns", 0), ["9995"])   # what was filtered stays filtered
        finally:
            self.page.call("Emulation.setEmulatedMedia", features=[])
            self.page.wait(ground + " === %s" % json.dumps(light))
            self.page.wait(drawn)
            self.filter("turns", "")

    def test_it_stays_usable(self):
        """What a person waits for: a filter and a sort over all turns. Rows on the page are few."""
        self.assertLessEqual(self.page.run("document.querySelectorAll('#table-turns tbody tr:not(.more)').length"), 200)
        self.page.run("document.querySelector('#table-turns').closest('.scroll').nextElementSibling.click()")
        self.assertGreater(self.page.run("document.querySelectorAll('#table-turns tbody tr').length"), 200)


if __name__ == "__main__":
    unittest.main()
