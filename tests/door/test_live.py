"""What a terminal of 40 columns shows of a run and of `cawb watch`: that something goes on from the first moment, no line
wider than the terminal, and no word lost. Through a pseudo-terminal.
"""
import fcntl
import os
import pty
import re
import struct
import subprocess
import tempfile
import termios
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAM = os.environ.get("CAWB_PROGRAM") or os.path.join(ROOT, "build", "release", "bin", "cawb")
COLUMNS = 40
RUN = ["strategies/ladder.lua", "examples/softmax.py", "--device", "sim:h100", "--set", "task.rows=16", "--set", "turns=1", "--set", "live.every=0.001"]


def shown(words, columns=COLUMNS):
    """What a program writes to a terminal of so many columns."""
    near, far = pty.openpty()
    fcntl.ioctl(far, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = subprocess.Popen([PROGRAM] + words, cwd=ROOT, stdin=far, stdout=far, stderr=far)
    os.close(far)
    out = b""
    while True:
        try:
            data = os.read(near, 1 << 16)
        except OSError:
            break                               # the other side is closed
        if not data:
            break
        out += data
    os.close(near)
    return out.decode(), process.wait()


def pieces(text):
    """Whatever stood on a line at some time, in order."""
    return [piece for piece in re.split(r"[\r\n]+", re.sub(r"\x1b\[[HJK]", "", text)) if piece]


@unittest.skipUnless(os.path.exists(PROGRAM), "no cawb at %s" % PROGRAM)
class Live(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="cawb-live-")
        cls.out = os.path.join(cls.folder.name, "runs")
        cls.text, cls.status = shown(RUN + ["--out", cls.out])
        cls.lines = pieces(cls.text)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_no_line_is_wider_than_the_terminal(self):
        self.assertEqual(self.status, 0, self.text)
        self.assertLessEqual(max(map(len, self.lines)), COLUMNS)

    def test_it_is_told_what_goes_on_from_the_beginning(self):
        begun = next(i for i, line in enumerate(self.lines) if line.startswith("ladder on softmax"))
        self.assertTrue(any(line.startswith("starting Python") for line in self.lines[:begun]), self.lines[:begun])
        self.assertTrue(any(re.match(r"turn 1  (verify|confirm).*(simulating|secret inputs|reference)", line) for line in self.lines[begun:]), self.lines)

    def test_the_last_line_is_gone_when_something_is_printed(self):
        self.assertNotRegex(self.text, r"[^\r\n]\x1b\[K")              # from the line's beginning
        ended = self.text.rsplit("\x1b[K", 1)[1]
        self.assertIn("kept in", ended)

    def test_the_table_is_read_line_by_line(self):
        at = self.lines.index("turn 1")
        self.assertEqual(self.lines[at + 1:at + 3], ["  candidate  softmax/v1_thread_per_row", "  verdict  pass"])
        self.assertIn("right, but slower than torch.compile: 0.0", " ".join(line.strip() for line in self.lines[at:]))

    def test_the_page_of_judge_begins_on_a_line_of_its_own(self):
        words = ["judge", "examples/softmax.py", "kernels/softmax/v2_block_per_row", "--device", "sim:h100", "--set", "task.rows=16", "--set", "sweep.variants=1",
                 "--set", "live.every=0.001", "--out", self.out + "-judge"]
        text, status = shown(words, 200)
        self.assertIn(status, (0, 1), text)
        self.assertTrue(any(line.startswith("right") for line in pieces(text)), text)
        self.assertNotRegex(text, r"[^\r\n]\x1b\[K")
        done = subprocess.run([PROGRAM] + words, cwd=ROOT, capture_output=True, text=True)
        self.assertNotIn("\x1b", done.stdout + done.stderr)

    def test_watch_fits_too(self):
        text, status = shown(["watch", self.out, "--once"])
        self.assertEqual(status, 0, text)
        self.assertLessEqual(max(map(len, pieces(text))), COLUMNS)
        self.assertEqual(pieces(text), ["no run is in progress", "1 run has ended"])


class Files(unittest.TestCase):
    @unittest.skipUnless(os.path.exists(PROGRAM), "no cawb at %s" % PROGRAM)
    def test_where_there_is_no_terminal_there_is_no_such_line(self):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([PROGRAM] + RUN + ["--out", folder], cwd=ROOT, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertNotIn("\x1b", done.stdout + done.stderr)
            self.assertNotIn("starting Python", done.stdout + done.stderr)
            self.assertEqual([name for name in os.listdir(os.path.join(folder, "locks")) if name.startswith("now-")], [])


if __name__ == "__main__":
    unittest.main()
