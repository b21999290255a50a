"""`cawb serve` and kill -9: of the server, what was answered is in the record, and a request that comes again is answered and
not timed again; a worker that somebody ends costs no candidate its verdict, and sessions go on. A few moments; 20 of each
with CAWB_TEST_ALL=1."""
import os
import random
import shutil
import signal
import sqlite3
import tempfile
import threading
import unittest
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))

from serving import CAWB, Server, Socket, rung

MOMENTS = 20 if os.environ.get("CAWB_TEST_ALL") else 2
RIGHT = rung("v1_thread_per_row")
BRIEF = ("--set", "verify.trials=1", "--set", "verify.battery=mixed", "--set", "confirm.enabled=false", "--set", "turns=10000")


def variants(name, count):
    """The same kernel in other words, so that each is evaluated."""
    return [dict(RIGHT, source=RIGHT["source"] + "// %s %d\n" % (name, i)) for i in range(count)]


def told(items):
    """What of an answer may not change."""
    return [(item["ok"], item["reward"], item["run"], item["turn"], item["time_s"]) for item in items]


class Killing(unittest.TestCase):
    def setUp(self):
        self.out = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.out, ignore_errors=True)

    def start(self):
        server = Server(self.out, flags=BRIEF)
        self.addCleanup(server.end)
        return server

    def in_store(self):
        """How many candidates the record has; it is whole."""
        with sqlite3.connect(os.path.join(self.out, "store.sqlite")) as store:
            self.assertEqual(store.execute("pragma integrity_check").fetchone(), ("ok",))
            self.assertEqual(store.execute("pragma foreign_key_check").fetchall(), [])
            turns, judged = store.execute("select count(*), count(e.run) from turns t left join evaluations e on e.run = t.run "
                                          "and e.turn = t.number and e.number = 0").fetchone()
        self.assertEqual(turns, judged)
        return turns


def wait_for(server, count):
    while server.evaluated() < count:
        pass


@unittest.skipUnless(CAWB, "CAWB_PROGRAM is not set")
class Servers(Killing):
    def ask(self, server, texts, name):
        try:
            server.score(*texts, request_id=name)
        except OSError:
            pass                                  # the connection goes with the server

    def test_what_was_answered_is_answered_again_and_nothing_is_lost(self):
        before, seen = None, 0
        for moment in range(MOMENTS):
            server = self.start()
            self.assertIn("%d candidates remembered" % seen, server.line)
            if before:                            # of a server that is gone: the same answer, and nothing is timed
                status, answer = server.score(*before[0], request_id=before[1])
                self.assertEqual((status, told(answer["items"])), (200, before[2]))
                self.assertEqual((server.evaluated(), {item["memo"] for item in answer["items"]}), (0, {True}))
            answered, under_way = variants("answered %d" % moment, 2), variants("under way %d" % moment, 6)
            status, answer = server.score(*answered, request_id="a%d" % moment)
            self.assertTrue(status == 200 and all(item["ok"] for item in answer["items"]), answer)
            before = answered, "a%d" % moment, told(answer["items"])
            asking = threading.Thread(target=self.ask, args=(server, under_way, "u%d" % moment))
            asking.start()
            wait_for(server, 2 + moment % 4)
            done = server.evaluated()
            server.stop(signal.SIGKILL)
            asking.join()
            kept = self.in_store()
            self.assertGreaterEqual(kept, seen + done)               # what was told is there
            server = self.start()
            status, answer = server.score(*under_way, request_id="u%d" % moment)
            self.assertTrue(status == 200 and all(item["ok"] for item in answer["items"]), answer)
            self.assertEqual(sum(item["memo"] for item in answer["items"]), kept - seen - 2)
            self.assertEqual(server.evaluated(), 6 - (kept - seen - 2))
            self.assertEqual(server.stop(), 0)
            seen = self.in_store()
            self.assertEqual(seen, 8 * (moment + 1))


def processes_below(pid):
    """The ids of the processes that a server has started, and what each is."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/stat" % name, encoding="utf-8") as file:
                parent = int(file.read().rsplit(")", 1)[1].split()[1])
            with open("/proc/%s/cmdline" % name, encoding="utf-8") as file:
                command = file.read()
        except OSError:
            continue
        if parent == pid:
            found.append((int(name), next((kind for kind in ("--worker", "--compiler") if kind in command), "task host")))
    return found


@unittest.skipUnless(CAWB, "CAWB_PROGRAM is not set")
class Workers(Killing):
    def batches(self):
        """Batches one after the other, until all processes were killed."""
        count = 0
        while not self.over.is_set():
            self.answers.append(self.server.score(*variants("batch %d" % count, 4), request_id="b%d" % count))
            count += 1

    def session(self):
        line = Socket(self.server)
        self.steps.append(line.ask("reset", {"task": "softmax"}))
        count = 0
        while not self.over.is_set():
            self.steps.append(line.ask("step", variants("step %d" % count, 1)[0]))
            count += 1
        line.close()

    def kill_one(self, draw):
        """One of the processes, at a moment that nobody chose. What it was. Two evaluations end before: the first may have
        been over when another process was killed, and what starts in that one's place is no candidate's."""
        wait_for(self.server, self.server.evaluated() + 2 + draw.randrange(3))
        try:
            pid, kind = draw.choice(sorted(processes_below(self.server.process.pid)))
            os.kill(pid, signal.SIGKILL)
        except (IndexError, ProcessLookupError):
            return None
        return kind

    def test_a_process_that_dies_costs_at_most_its_candidate_and_sessions_go_on(self):
        self.server, self.over, self.answers, self.steps = self.start(), threading.Event(), [], []
        threads = [threading.Thread(target=f) for f in (self.batches, self.session)]
        for thread in threads:
            thread.start()
        draw = random.Random(2602)
        killed = [self.kill_one(draw) for _ in range(MOMENTS)]
        wait_for(self.server, self.server.evaluated() + 2)
        self.over.set()
        for thread in threads:
            thread.join()
        self.assertEqual({status for status, _ in self.answers}, {200}, [a for s, a in self.answers if s != 200])
        items = [item for _, answer in self.answers for item in answer["items"]]
        items += [step["observation"]["result"] for _, step in self.steps[1:]]
        lost = [item for item in items if not item["ok"]]
        self.assertLessEqual(len(lost), len(killed) - killed.count(None) - killed.count("--worker"), lost)
        for item in lost:
            self.assertTrue(item["reason"] and item["reward"] == -1, item)
        self.assertEqual({kind for kind, _ in self.steps}, {"observation"}, self.steps)
        self.assertEqual(len(items), self.server.evaluated())
        self.assertEqual(self.server.stop(), 0)
        self.assertEqual(self.in_store(), len(items))


if __name__ == "__main__":
    unittest.main()
