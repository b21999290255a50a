"""The page of `cawb look` in Chromium, as somebody uses it: type a race and see its line, open a link, keep a file, use the keys, hold a telephone.
Without a browser it is skipped."""
import json
import os
import shutil
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "support"))

from browsing import BROWSER, Page
from looking import Look
from serving import CAWB

SETTLED = "document.documentElement.dataset.ready === 'yes' && !document.querySelector('#answer.busy')"
EVIL = '// </script><img src=x onerror="window.owned = 1"><script>window.owned = 1</script>'


@unittest.skipUnless(BROWSER, "no Chromium (Debian's package chromium)")
@unittest.skipUnless(CAWB, "CAWB_PROGRAM is not set")
class Used(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="cawb-look-")
        cls.server = Look()
        cls.page = Page(tempfile.mkdtemp(dir=cls.folder))

    @classmethod
    def tearDownClass(cls):
        cls.page.close()
        cls.server.end()
        shutil.rmtree(cls.folder, ignore_errors=True)

    def setUp(self):
        self.fresh = []

    def tearDown(self):
        for page in [self.page, *self.fresh]:
            bad = [c for c in page.complaints() if not c.startswith((self.server.url, "blob:"))]
            self.assertEqual((bad, page.run("window.owned === undefined")), ([], True))
        for page in self.fresh:
            page.close()

    def browser(self, url, settled=SETTLED, fresh=False):
        """A page there, in the browser of all tests or in one that knows nothing."""
        page = Page(tempfile.mkdtemp(dir=self.folder)) if fresh else self.page
        if fresh:
            self.fresh.append(page)
        page.call("Emulation.clearDeviceMetricsOverride")
        page.call("Page.navigate", url="about:blank")
        page.wait("location.href === 'about:blank'")
        page.events = []
        page.call("Page.navigate", url=url)
        page.wait(settled)
        return page

    def text(self, page, place):
        return page.run("document.getElementById(%s).textContent" % json.dumps(place))

    def type(self, page, before, text):
        """Put the caret before a text, and type."""
        page.run("(() => { const t = document.getElementById('text'), at = t.value.indexOf(%s); t.focus(); t.setSelectionRange(at, at); })()" % json.dumps(before))
        page.call("Input.insertText", text=text)

    def press(self, page, key, modifiers=0, code=None):
        for kind in ("keyDown", "keyUp"):
            page.call("Input.dispatchKeyEvent", type=kind, key=key, code=code or key, modifiers=modifiers, windowsVirtualKeyCode={"Tab": 9, "Escape": 27, "Enter": 13}.get(key, 0))

    def kernel(self, page):
        return page.run("document.getElementById('text').value")

    def test_a_race_that_is_typed_is_seen_at_its_line_and_a_link_shows_it_elsewhere(self):
        page = self.browser(self.server.url + "/#k=exercise-4%2Fsolution")
        self.assertTrue(self.text(page, "headline").startswith("right"), self.text(page, "headline"))
        self.type(page, "__syncthreads();\n    y", EVIL + "\n    // ")
        page.wait("document.querySelector('#gutter .fault')")
        page.wait(SETTLED)
        lines = self.kernel(page).split("\n")
        marked = int(page.run("document.querySelector('#gutter .fault u').textContent"))
        self.assertIn("piece[", lines[marked - 1])
        self.assertIn("race", self.text(page, "headline"))
        link = page.run("location.href")
        self.assertRegex(link, "#s=[\\w-]+$")
        other = self.browser(link, fresh=True)
        self.assertEqual((self.kernel(other), self.text(other, "headline")), (self.kernel(page), self.text(page, "headline")))
        self.assertEqual(int(other.run("document.querySelector('#gutter .fault u').textContent")), marked)

    def test_the_whole_is_looked_at_when_one_pauses(self):
        page = self.browser(self.server.url + "/#k=softmax%2Fv3_shuffle")
        page.wait("document.documentElement.dataset.depth === 'full'")
        text = page.run("document.body.innerText")
        for wanted in ("Time beside PyTorch", "modelled time", "torch.compile", "limiter", "occupancy", "outputs[1]", "ld.global"):
            self.assertIn(wanted, text)
        self.assertGreater(page.run("[...document.querySelectorAll('#gutter i')].filter((i) => i.textContent).length"), 3)

    def test_instructions_of_the_carets_line_are_lit_and_lead_back(self):
        page = self.browser(self.server.url + "/#k=exercise-4%2Fsolution")
        line = next(i for i, l in enumerate(self.kernel(page).split("\n"), 1) if "piece[127" in l)
        page.run("editor.go(%d)" % line)
        lit = page.run("[...document.querySelectorAll('.listing .here')].map((e) => e.textContent).join(' ')")
        self.assertIn("st.shared", lit)
        page.run("editor.go(1)")
        page.run("document.querySelector('.listing [data-line=\"%d\"]').click()" % line)
        self.assertEqual(page.run("editor.line()"), line)

    def test_mistakes_in_the_plan_stand_in_the_plan(self):
        page = self.browser(self.server.url + "/#k=exercise-4%2Fstart")
        page.run("document.getElementById('tab-plan').click()")
        self.type(page, "reverse", "<script>window.owned = 1</script>")
        page.wait(SETTLED)
        page.wait("document.querySelector('#paint .fault em')")
        self.assertIn("<script>window.owned = 1</script>reverse", self.text(page, "headline"))
        self.assertIn("plan.lua line 3", self.text(page, "marks"))

    def test_the_gallery_by_keys(self):
        page = self.browser(self.server.url + "/")
        self.press(page, "g", 1, "KeyG")
        page.call("Input.insertText", text="compose softmax")
        page.run("document.getElementById('filter').dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true }))")
        page.wait("location.hash.includes('compose') && " + SETTLED)
        self.assertIn("_softmax", self.text(page, "nodes"))
        page.run("document.querySelector('#nodes td button').click()")
        self.assertIn("__global__", self.kernel(page).split("\n")[page.run("editor.line()") - 1])

    def test_tab_indents_and_after_escape_leaves(self):
        page = self.browser(self.server.url + "/#k=exercise-4%2Fsolution")
        before = self.kernel(page)
        page.run("editor.go(1)")
        self.press(page, "Tab")
        self.assertEqual(self.kernel(page), "  " + before)
        self.press(page, "Escape")
        self.press(page, "Tab")
        self.assertNotEqual(page.run("document.activeElement.id"), "text")
        self.assertEqual(self.kernel(page), "  " + before)

    def test_a_file_that_is_kept_shows_the_same_without_a_server(self):
        page = self.browser(self.server.url + "/#k=exercise-4%2Fstart")
        self.type(page, "// Pieces", EVIL + "\n")
        page.wait(SETTLED)
        page.wait("document.querySelector('#gutter .fault')")
        text = page.run("exported({ state: { ...portable(state), key: state.key, edited: true }, result, device: gallery.device, version: gallery.version })")
        path = os.path.join(self.folder, "kept.html")
        with open(path, "w") as file:
            file.write(text)
        was = self.kernel(page), self.text(page, "headline")
        kept = self.browser("file://" + path, fresh=True)
        self.assertEqual((self.kernel(kept), self.text(kept, "headline")), was)
        self.assertTrue(kept.run("document.getElementById('text').readOnly"))
        self.assertEqual(kept.complaints(), [])

    def test_a_telephone_shows_all_of_it_below_each_other(self):
        page = self.browser(self.server.url + "/#k=softmax%2Fv3_shuffle")
        page.call("Emulation.setDeviceMetricsOverride", width=390, height=844, deviceScaleFactor=2, mobile=True)
        page.wait("innerWidth === 390")
        self.assertLessEqual(page.run("document.documentElement.scrollWidth"), 390)
        place = page.run("['editor', 'answer', 'results'].map((id) => document.getElementById(id).getBoundingClientRect()).map((r) => [r.top, r.bottom, r.left, r.right])")
        self.assertLessEqual(place[0][1], place[1][0])
        self.assertLessEqual(place[1][1], place[2][0])
        self.assertTrue(all(left >= 0 and right <= 390 for _, _, left, right in place), place)

    def test_the_page_asks_for_the_token_once(self):
        path = os.path.join(self.folder, "token")
        with open(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600), "w") as file:
            file.write("0f1e2d3c\n")
        server = Look("--token-file", path)
        try:
            page = self.browser(server.url + "/", "document.getElementById('token').open", fresh=True)
            for word, settled in (("wrong", "document.getElementById('token').open && !document.getElementById('secret').value"), ("0f1e2d3c", SETTLED)):
                page.run("document.getElementById('secret').focus()")
                page.call("Input.insertText", text=word)
                page.run("document.querySelector('#token button').click()")
                page.wait(settled)
            self.assertIn("race", self.text(page, "headline"))
            page.call("Page.reload")
            page.wait(SETTLED + " && document.getElementById('marks').textContent")
            self.assertFalse(page.run("document.getElementById('token').open"))
            page.events = []                                         # 401 is told on the console, too
        finally:
            server.end()

    def test_a_link_that_cannot_be_read_is_told(self):
        page = self.browser(self.server.url + "/#s=AAAA", "document.getElementById('headline').textContent.includes('cannot be read') || " + SETTLED)
        self.assertEqual(page.run("window.owned"), None)


if __name__ == "__main__":
    unittest.main()
