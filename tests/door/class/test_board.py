"""The board of a class in Chromium: it says what to type, a click of the teacher's opens a solution, and a student's turn appears. Without a
browser it is skipped."""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "support"))

from browsing import BROWSER, Page
from serving import CAWB

ROW = "document.querySelector('#board tbody tr')"


@unittest.skipUnless(BROWSER, "no Chromium (Debian's package chromium)")
@unittest.skipUnless(CAWB, "CAWB_PROGRAM is not set")
class Board(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="cawb-class-")
        self.server = subprocess.Popen([CAWB, "exercise", "class", "--port", "0", "--places", "1", "--out", os.path.join(self.folder, "class.jsonl")],
                                       stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.url = self.server.stdout.readline().split()[-1]
        self.link = self.server.stdout.readline().split()[-1]
        self.page = Page(os.path.join(self.folder, "profile"))

    def tearDown(self):
        self.page.close()
        self.server.terminate()
        self.server.stdout.close()
        self.server.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def test_a_click_opens_a_solution_and_a_turn_appears(self):
        self.page.call("Page.navigate", url=self.link)
        self.page.wait("document.documentElement.dataset.ready === 'yes'")
        self.assertIn("cawb exercise 1 my.cu --class %s" % self.url.rstrip("/"), self.page.run("document.body.innerText"))
        self.page.run("[...document.querySelectorAll('button')].find((b) => b.textContent.startsWith('3 ')).click()")
        self.page.wait("[...document.querySelectorAll('button')].some((b) => b.textContent === '3 open')")
        with urllib.request.urlopen(self.url + "solution/3") as answer:
            path = os.path.join(self.folder, "tile.cu")
            with open(path, "wb") as file:
                file.write(answer.read())
        subprocess.run([CAWB, "exercise", "3", path, "--class", self.url, "--name", "Ada"], check=True, stdout=subprocess.DEVNULL)
        self.page.wait("%s && %s.innerText.includes('Ada')" % (ROW, ROW))
        self.assertIn("solved", self.page.run(ROW + ".innerText"))
        self.assertEqual([c for c in self.page.complaints() if not c.startswith((self.url, "data:"))], [])


if __name__ == "__main__":
    unittest.main()
