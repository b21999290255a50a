"""`cawb report` in a real browser: it renders, sorts, filters, complains of nothing, fits a
telephone, follows a dark system, and stays usable with 10,000 turns. Chromium is driven over
its debugging pipe; without one, this is skipped.
"""
import json
import os
import shutil
import subprocess
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAM = os.environ.get("CAWB_PROGRAM") or os.path.join(ROOT, "build", "release", "bin", "cawb")
BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
TURNS = 10000

FILL = r"""
local core = require "cawb.core"
local dir, turns, from = ...
local store, encode = assert(core.store.open(dir)), core.json.encode
local function s(x) return { median = x, lo = x * 0.98, hi = x * 1.02, samples = 9 } end
assert(store:begin())
store:insert("environments", { hash = "e", json = encode { manifest = { model = "H100 </script><b>", driver = "580" } } })
local first, second = "line one\nline two\n", "line one\nline 2 </script>\n"
for i, text in ipairs { first, second, "line one\nline 5\n" } do
  store:insert("candidates", { hash = "c" .. i, kind = "tier1", files = encode { ["kernel.cu"] = assert(store:artifact(text)) } })
end
store:insert("runs", { id = "r", started = 1.0, strategy = "a.lua", task = "t.py", device = "cuda:0", environment = "e", modelled = false, options = "{}" })
for n = 1, math.tointeger(turns) do
  local ok, x = n % 5 ~= 0, 0.5 + (n * 7919 % 1000) / 500
  local facts = n == 1 and { floor = { memory = 5e-6, compute = 1e-6, read = 1e7, written = 1e7, flops = 1e8, source = "measured" },
    profile = { source = "cupti", metrics = { registers = 40, spills = 0 }, roofline = { sentence = "limited by DRAM" } } } or {}
  store:insert("turns", { run = "r", number = n, started = 1.0 + n, candidate = n == 1 and "c1" or n == 5 and "c3" or "c2", ok = ok,
    stage = not ok and "verify" or nil, reason = not ok and "outputs[1] <i>is</i> wrong" .. (n == 5 and "\nat element 7" or "") or nil, reward = ok and x or -1.0,
    result = encode { number = n, name = "k/v" .. n, ok = ok, jail = n == 1 and "namespaces, seccomp" or nil,
      note = n == 5 and "tried a wider tile" or nil, spent = { tokens = 1000 * n, dollars = 0.5, replies = n },
      bound = ok and n < 4 and { memory = 5e-6, launch = 4e-6, l2 = 1e-7, shared = 0 } or nil,
      equal_error = ok and { against = "compile", median = x / 2, lo = x * 0.49, hi = x * 0.51, verdict = x / 2 > 1 and "faster" or "slower" } or nil,
      jail_lacks = n < 3 and { "no control group <i>" } or nil, denormals = n == 1 and "flushed" or "kept", repeatable = n ~= 2, seconds = { compile = 0.1 }, time_s = ok and s(1e-5 / x) or nil,
      speedup = ok and { eager = s(x), compile = s(x / 2) } or nil, error = ok and { nrms = 1e-8 * (1 + n % 7), worst = 1e-7 } or nil } })
  if n == 1 or n == turns then store:insert("evaluations", { run = "r", turn = n, number = 0, ok = ok, facts = encode(facts) }) end
end
store:insert("baselines", { run = "r", subject = "eager", modelled = false, median = 1e-5, lo = 1e-5, hi = 1e-5, json = encode { error = { nrms = 2e-8 } } })
for i, m in ipairs {
  { chat = 1, role = "system", text = "write a <b>kernel</b>" },
  { chat = 1, role = "assistant", text = "A wider tile.", usage = { input = 900, output = 100 }, cost = 0.25,
    calls = { { id = "a", name = "write_file", arguments = encode { path = "kernel.cu", text = ("line\n"):rep(20) } } } },
  { chat = 1, role = "tool", name = "measure", text = "rejected </script>", failed = true, turn = 5, reward = -1.0 } } do
  store:insert("events", { run = "r", number = i, at = 1.0 + i, kind = "message", turn = m.turn, data = encode(m) })
end
store:insert("run_ends", { run = "r", ended = 9.0, status = "passed", summary = encode { ended = "turns", spent = { replies = 10000, tokens = 1e7, dollars = 0.5 } } })
store:insert("suites", { id = "s", json = encode { strategy = "a.lua" } })
store:insert("suite_sessions", { suite = "s", started = 1.0, json = encode { suite = from or "data/KernelBench/level_1.parquet", tasks = { "task1", "task2", "task3", "task4" },
  devices = { "cuda:0" } } })
for i, status in ipairs { "pass", "no candidate", "pass" } do
  store:insert("suite_tasks", { suite = "s", task = "task" .. i, attempt = 1, level = 1, problem_id = i, name = "t", code = "h", status = status,
    reason = status ~= "pass" and "no family:\nconv" or nil, started = 1.0, ended = 2.0, run = "r",
    json = encode { turns = 5, best = status == "pass" and { name = "k", libraries = { "cuBLAS" }, time_s = s(99e-5), speedup = { eager = s(2.0 / i), compile = s(1.5) },
      error = { nrms = 1e-7 * i }, equal_error = { against = "eager", median = 2.0 / i, lo = 1.96 / i, hi = 2.04 / i } } or nil } })
end
assert(store:commit())
"""


class Page:
    """One tab of a headless browser."""

    def __init__(self, profile):
        to_browser, self.out = os.pipe()
        self.back, from_browser = os.pipe()
        words = [BROWSER, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                 "--remote-debugging-pipe", "--user-data-dir=" + profile, "about:blank"]
        self.process = subprocess.Popen(["sh", "-c", 'exec "$@" 3<&%d 4>&%d' % (to_browser, from_browser), "sh"] + words,
                                        pass_fds=(to_browser, from_browser), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.buffer, self.number, self.events, self.session = b"", 0, [], None
        targets = self.call("Target.getTargets")["targetInfos"]
        tab = next(t for t in targets if t["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=tab["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")

    def receive(self):
        while b"\0" not in self.buffer:
            data = os.read(self.back, 1 << 16)
            if not data:
                raise EOFError("the browser ended")
            self.buffer += data
        text, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(text)

    def call(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        while True:
            reply = self.receive()
            if reply.get("id") == self.number:
                if "error" in reply:
                    raise RuntimeError(reply["error"]["message"])
                return reply["result"]
            self.events.append(reply)

    def open(self, path):
        self.events = []
        self.call("Page.navigate", url="file://" + path)
        self.wait("document.documentElement.dataset.ready === 'yes'")

    def wait(self, condition, tries=600):
        self.run("""new Promise((done, fail) => { let left = %d; const look = () => { try { if (%s) return done(1); } catch (e) {}
          if (--left < 0) return fail(new Error("waited in vain")); setTimeout(look, 100); }; look(); })""" % (tries, condition))

    def run(self, script):
        reply = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in reply:
            raise RuntimeError(json.dumps(reply["exceptionDetails"])[:500])
        return reply["result"].get("value")

    def complaints(self):
        """Errors of scripts, of the console, and anything that was asked of a network."""
        bad = []
        for event in self.events:
            method, params = event.get("method"), event.get("params", {})
            if method == "Runtime.exceptionThrown" or (method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning")) \
                    or (method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning")):
                bad.append(json.dumps(params)[:300])
            if method == "Network.requestWillBeSent" and not params["request"]["url"].startswith(("file:", "data:", "about:")):
                bad.append(params["request"]["url"])
        return bad

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.out)
        os.close(self.back)


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

    def test_the_answer_comes_first(self):
        first = self.page.run("document.querySelector('#run').firstElementChild.id")
        self.assertEqual(first, "answer")
        self.assertEqual(self.texts("#answer .headline"), ["1.25x +-0.03 as fast as torch.compile at equal error"])
        lines = self.texts("#answer li")
        self.assertIn("how sure: measured; 95% interval 1.22x to 1.27x", lines)
        self.assertTrue(any(line.startswith("model: 10000 replies") for line in lines), lines)
        self.assertEqual(self.texts("#answer-suite0 .headline"),
                         ["1.15x [0.67, 2.00] as fast as the fastest baseline at equal error, geometric mean of the 2 of 3 tasks with a right candidate that was timed"])
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


@unittest.skipUnless(BROWSER, "no Chromium (Debian's package chromium)")
@unittest.skipUnless(os.path.exists(PROGRAM), "no cawb at %s" % PROGRAM)
class Training(unittest.TestCase):
    def test_curves_of_a_training_log(self):
        with tempfile.TemporaryDirectory(prefix="cawb-report-") as folder:
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
        import csv
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
                "| task1 | k (cuBLAS) | pass | 990 [970, 1010] us | 2.00x +-0.04 | 1.50x +-0.03 | 1.0e-07 | 5 |",
                "| task2 | - | no candidate: no family | - | - | - | - | 5 |",
                "| task3 | k (cuBLAS) | pass | 990 [970, 1010] us | 0.67x +-0.02 | 1.50x +-0.03 | 3.0e-07 | 5 |"])
            wrong = subprocess.run([PROGRAM, "report", folder + "/s", "--csv", "--markdown"], capture_output=True, text=True)
            self.assertEqual(wrong.returncode, 2)


if __name__ == "__main__":
    unittest.main()
