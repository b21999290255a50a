"""A class of students at one server (cawb exercise class): how long does each wait for a verdict? By hand:

    CAWB_PROGRAM=build/release/bin/cawb python3 bench/door/class.py [--students 20] [--minutes 4] [--pause 20] > bench/results/door/class.txt

Each student goes through the exercises from the first on: the file to begin with, a text that does not compile, the solution; then the next one.
Between two turns each thinks for a random time, `--pause` seconds in the mean. No PyTorch is used.
"""
import argparse
import json
import os
import pathlib
import random
import re
import statistics
import subprocess
import tempfile
import threading
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("CAWB_PROGRAM", str(ROOT / "build" / "release" / "bin" / "cawb"))


def options():
    p = argparse.ArgumentParser()
    p.add_argument("--students", type=int, default=20)
    p.add_argument("--minutes", type=float, default=4)
    p.add_argument("--pause", type=float, default=20)
    return p.parse_args()


def texts():
    """Of each exercise its number, and the three answers that a student sends."""
    for folder in sorted((ROOT / "examples/workshop/exercises").glob("[0-9]*_*")):
        start, solution = (folder / "start.cu").read_text(), (folder / "solution.cu").read_text()
        yield int(folder.name[:2]), [start, start.replace("{", "{ nonsense", 1), solution]


def turn(url, name, number, source):
    """Seconds until the verdict, and whether it passed."""
    body = json.dumps({"name": name, "exercise": number, "source": source}).encode()
    began = time.monotonic()
    with urllib.request.urlopen(urllib.request.Request(url + "turn", body, {"Content-Type": "application/json"}), timeout=300) as reply:
        verdict = json.load(reply)
    return time.monotonic() - began, verdict["passed"]


def student(url, name, ends, pause, seen):
    draw = random.Random(name)
    time.sleep(draw.uniform(0, pause))
    for number, answers in texts():
        for k, source in enumerate(answers):
            if time.monotonic() > ends:
                return
            # A comment of one's own: nobody's kernel is another one's from the cache.
            seconds, passed = turn(url, name, number, "// %s, %d\n%s" % (name, k, source))
            seen.append((name, number, seconds, passed, k == 2))
            time.sleep(draw.expovariate(1 / pause))


def main():
    o = options()
    with tempfile.TemporaryDirectory() as folder:
        server = subprocess.Popen([PROGRAM, "exercise", "class", "--port", "0", "--out", folder + "/class.jsonl"], stdout=subprocess.PIPE, text=True)
        url = re.search(r"http://\S+", server.stdout.readline()).group()
        load = os.getloadavg()[0]
        seen, ends = [], time.monotonic() + 60 * o.minutes
        threads = [threading.Thread(target=student, args=(url, "student %d" % k, ends, o.pause, seen)) for k in range(o.students)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        server.terminate()
        server.wait()
    seconds = sorted(s for _, _, s, _, _ in seen)
    medians = [statistics.median(s for name, _, s, _, _ in seen if name == one) for one in {n for n, *_ in seen}]
    version = subprocess.run([PROGRAM, "--version"], capture_output=True, text=True, check=False).stdout.strip()
    commit = subprocess.run(["git", "-C", str(ROOT), "describe", "--always", "--dirty"], capture_output=True, text=True, check=False).stdout.strip()
    print("%s %s, %s, %d cores; load of others at the beginning %.1f" % (version, commit, time.strftime("%Y-%m-%d"), len(os.sched_getaffinity(0)), load))
    print("%d students, %.0f s of thinking in the mean, %.1f minutes, %d turns" % (o.students, o.pause, o.minutes, len(seen)))
    print("a turn: median %.2f s, 90%% %.2f s, longest %.2f s" % (statistics.median(seconds), seconds[int(.9 * len(seconds))], seconds[-1]))
    print("medians of the students: from %.2f s to %.2f s" % (min(medians), max(medians)))
    print("solutions that passed: %d of %d; others that passed: %d" % (sum(p for *_, p, s in seen if s), sum(s for *_, s in seen),
                                                                       sum(p for *_, p, s in seen if not s)))


if __name__ == "__main__":
    main()
