"""serve.py [--device NAME] [--places N ...] [--rounds N] [--turns N] [--sizes ...] [--where] [--reference PYTHON]: candidates a second through POST /score,
with nothing remembered: rungs of the families
`reduce` and `elementwise`, each verified on two draws and timed: on small tasks; with --scale both, which verifies at small
sizes and models the time at the examples' own on some blocks of each launch; and on the examples' own sizes in full. And what the server
costs by itself: sessions on OpenEnv's wire that are asked for their state, and that take steps in which nothing is
evaluated (to cawb a reply without a candidate, which has a reward). With --reference the same is asked of OpenEnv's own
server with an environment that does nothing, in turns with cawb. With --where each row says what the server's processes were
asked for meanwhile, and how long that took. Prints the table of bench/results/learn/serve.txt.

A rate "a core" is candidates by the processor time that the server and its processes took, so that it says the same on a
machine that others use too; "a second" is by the clock.

    CAWB_PROGRAM=build/release/bin/cawb CAWB_PYTHON=... python bench/learn/serve.py > bench/results/learn/serve.txt
"""
import argparse
import atexit
import concurrent.futures
import contextlib
import json
import os
import platform
import re
import selectors
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "python"))

import cawb  # noqa: E402

SUBJECTS = {"reduce": "row_sum", "elementwise": "gelu"}
SIZES = {"64 x 1024": {"task.rows": 64, "task.cols": 1024}, "both": {"scale.mode": "both"}, "own": {}}
ROUNDS = {"own": 1}                                                          # own: 2048 x 2048 and 1024 x 2048
BRIEF = {"verify.trials": 1, "verify.battery": "mixed", "verify.repeats": 0, "verify.denormals": False, "sweep.variants": 1}


# On a GPU times are measured, in turns with PyTorch's: few of them, and no second look at what is the best so far.
MEASURED = {"confirm.enabled": False, "measure.rounds": 4, "measure.precision": 0.05, "measure.budget": 0.03, "measure.launches": 3,
            "measure.inputs_for": 16}


def rungs(family):
    folder = os.path.join(ROOT, "kernels", family)
    for name in sorted(os.listdir(folder)):
        if name.endswith(".cu"):
            texts = []
            for path in (name, name[:-3] + ".lua"):
                with open(os.path.join(folder, path), encoding="utf-8") as file:
                    texts.append(file.read())
            yield name[:-3], texts


def candidates(family, task, rounds):
    """Each rung `rounds` times, each time another text: nothing is built or measured twice."""
    return [{"task": task, "candidate": {"source": "// %d %s\n%s" % (i, os.urandom(4).hex(), source), "plan": plan}}
            for i in range(rounds) for _, (source, plan) in rungs(family)]


def processor_seconds(pid):
    """Of a process and all below it, so far."""
    below, times = {}, {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/stat" % name, encoding="utf-8") as file:
                fields = file.read().rsplit(")", 1)[1].split()
        except OSError:
            continue
        below.setdefault(int(fields[1]), []).append(int(name))
        times[int(name)] = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    total, left = 0.0, [pid]
    while left:
        one = left.pop()
        total += times.get(one, 0.0)
        left += below.get(one, [])
    return total


def asked(env):
    """What the server's processes were asked for so far: {(process, op): [times, seconds]}."""
    found, row = {}, r'^cawb_(asked|asked_seconds)_total{process="([^"]+)",op="([^"]+)"} (\S+)$'
    with urllib.request.urlopen(env.url + "/metrics", timeout=60) as answer:
        text = answer.read().decode()
    for name, process, op, value in re.findall(row, text, re.M):
        found.setdefault((process, op), [0, 0.0])[name == "asked_seconds"] = float(value)
    return found


def where(before, after, count, seconds):
    """Where the time of a candidate went: a row for each thing that a process was asked for, and what is left."""
    print("\n    %-12s %-16s %14s %14s" % ("process", "asked for", "a candidate", "ms a candidate"))
    rest = seconds
    for key, (times, spent) in sorted(after.items(), key=lambda item: before.get(item[0], [0, 0])[1] - item[1][1]):
        times, spent = times - before.get(key, [0, 0])[0], spent - before.get(key, [0, 0])[1]
        rest -= spent
        if times:
            print("    %-12s %-16s %14.1f %14.1f" % (*key, times / count, 1e3 * spent / count))
    print("    %-12s %-16s %14s %14.1f\n" % ("none", "", "", 1e3 * rest / count), flush=True)


def warm(env, places):
    """Have every task loaded on every place."""
    for family, task in SUBJECTS.items():
        first = candidates(family, task, 1)[0]
        env.score_all([dict(first, candidate=dict(first["candidate"], source=first["candidate"]["source"] + "// %d\n" % i))
                       for i in range(4 * places)], memo=False)


def score(env, items):
    """Seconds for all of them by the clock and of processors, and how many passed."""
    first, began, before = asked(env), time.monotonic(), processor_seconds(env.process.pid)
    got = env.score_all(items, memo=False)
    seconds, busy, last = time.monotonic() - began, processor_seconds(env.process.pid) - before, asked(env)
    stages = [1e3 * sum(item["seconds"][stage] for item in got) / len(got) for stage in ("compile", "verify", "measure")]
    return seconds, busy, sum(item["ok"] for item in got), stages, (first, last)


def frame(message):
    """A client's frame of text; its mask is 0, which leaves the text as it is."""
    data = json.dumps(message).encode()
    assert len(data) < 126
    return bytes([129, 128 | len(data), 0, 0, 0, 0]) + data


def length_of(data):
    """Of the first frame in some bytes, or None where it is not whole."""
    if len(data) < 2:
        return None
    size, head = data[1] & 127, 2
    if size > 125:
        more = 2 if size == 126 else 8
        size, head = int.from_bytes(data[2:2 + more], "big"), 2 + more
    return head + size if len(data) >= head + size else None


class Asker:
    """One session that asks the same again and again, and of an answer looks at its frame alone: what a client costs is not what
    is measured. `line` is open, and nothing is under way on it."""

    def __init__(self, line, message):
        self.socket, self.frame, self.data, self.times = line.line.socket, frame(message), b"", []
        self.socket.setblocking(False)

    def ask(self):
        self.since = time.monotonic()
        self.socket.sendall(self.frame)

    def hear(self):
        """Whether the answer is whole."""
        got = self.socket.recv(1 << 16)
        if not got:
            raise ConnectionError("the server closed a session")
        self.data += got
        size = length_of(self.data)
        if size is None:
            return False
        answer, self.data = self.data[:size], self.data[size:]
        if answer[0] == 137:                                         # a ping, whose answer is the same in a pong
            self.socket.sendall(bytes([138, 128 | answer[1], 0, 0, 0, 0]) + answer[2:])
            return False
        if answer[0] != 129 or b'"error"' in answer[:24]:
            raise RuntimeError(answer)
        self.times.append(time.monotonic() - self.since)
        return True


def ask_all(askers, each):
    """Every session asks `each` times, all of them at once."""
    with selectors.DefaultSelector() as selector:
        for one in askers:
            selector.register(one.socket, selectors.EVENT_READ, one)
            one.ask()
        left = len(askers) * each
        while left:
            for key, _ in selector.select():
                if key.data.hear():
                    left -= 1
                    if len(key.data.times) < each:
                        key.data.ask()


def steps(env, pid, sessions, each, message, reset=False):
    """Asks a second of sessions at once, by the clock and by the server's processor time, and what they wait, in ms."""
    lines = [env.session() for _ in range(sessions)]
    for line in lines if reset else ():
        line.reset()
    askers = [Asker(line, message) for line in lines]
    began, before = time.monotonic(), processor_seconds(pid)
    ask_all(askers, each)
    seconds, busy = time.monotonic() - began, processor_seconds(pid) - before
    times = sorted(t for one in askers for t in one.times)
    for line in lines:
        line.close()
    return len(times) / seconds, len(times) / max(busy, 0.01), times[len(times) // 2] * 1e3, times[int(len(times) * 0.99)] * 1e3


@contextlib.contextmanager
def reference(python, port=8765):
    """OpenEnv's own server, under the same client; or none."""
    if not python:
        yield None, None
        return
    process = subprocess.Popen([python, os.path.join(ROOT, "bench/learn/openenv_reference.py"), str(port)], stderr=subprocess.DEVNULL)
    try:
        env = cawb.Env("http://127.0.0.1:%d" % port, tries=240, timeout=600)
        env.health()
        yield env, process.pid
    finally:
        process.terminate()
        process.wait()


def asks(args):
    """Both servers in turns, so that what else the machine does treats them alike."""
    print("\n%-8s %-8s %8s %14s %14s %9s %9s" % ("server", "asked", "sessions", "asks a second", "a second, core", "p50 ms", "p99 ms"))
    row = "%-8s %-8s %8d %14.0f %14.0f %9.2f %9.2f"
    with server(args, "64 x 1024", args.places[0]) as env, reference(args.reference) as (other, pid):
        for sessions in (1, 100):
            for _ in range(args.turns):
                for name, url, number, step in (("cawb", env, env.process.pid, {"text": "none"}), ("openenv", other, pid, {})):
                    for message in {"type": "state"}, {"type": "step", "data": step}:
                        reset = message["type"] == "step" and bool(step)
                        if url:
                            each = 1000 if sessions == 1 else 100
                            print(row % (name, message["type"], sessions, *steps(url, number, sessions, each, message, reset)), flush=True)


def machine():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        model = next((line.split(":", 1)[1].strip() for line in file if line.startswith("model name")), "unknown")
    version = subprocess.run([cawb.program(), "--version"], capture_output=True, text=True, check=True).stdout.strip()
    load = open("/proc/loadavg", encoding="utf-8").read().split()[0]
    return "%s; %d cores of %s, load %s before; Python %s; %s" % (version, os.cpu_count(), model, load, platform.python_version(),
                                                                  time.strftime("%Y-%m-%d"))


def server(args, size, places):
    tasks = [os.path.join(ROOT, "examples", task + ".py") for task in SUBJECTS.values()]
    out = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, out, ignore_errors=True)
    brief = BRIEF if args.device.startswith("sim:") else {**BRIEF, **MEASURED, "measure.against": args.against}
    return cawb.serve(*tasks, device=args.device, out=out, options={**brief, **SIZES[size]}, timeout=1800,
                      flags=("--places", str(places), "--no-memo", "--sessions", "200"))


def ready(stack, args, size):
    """Servers of so many places each: all of them start and load at once, and then wait while another one is measured."""
    def one(places):
        env = server(args, size, places)
        stack.callback(env.close)
        warm(env, places)
        return places, env
    with concurrent.futures.ThreadPoolExecutor() as threads:
        return list(threads.map(one, args.places))


def scores(args, size, rounds):
    with contextlib.ExitStack() as stack:
        for places, env in ready(stack, args, size):
            for family, task in SUBJECTS.items():
                items = candidates(family, task, rounds)
                seconds, busy, passed, stages, spent = score(env, items)
                print("%6d %-10s %-12s %-8s %10d %7d %9.1f %10.1f %14.1f %8.0f %8.0f %8.0f" % (places, size, family, task, len(items), passed,
                      seconds, len(items) / seconds, len(items) / busy, *stages), flush=True)
                if args.where:
                    where(*spent, len(items), seconds)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--places", type=int, nargs="+", help="as of cawb serve, several servers for several numbers; one a core of a"
                        " simulated device, one on a GPU")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--turns", type=int, default=2, help="how often the servers take turns")
    parser.add_argument("--sizes", nargs="*", default=list(SIZES), help="of the tasks; none: only what the server costs")
    parser.add_argument("--device", default="sim:h100", help="a GPU's times are measured, briefly")
    parser.add_argument("--against", default="eager,compile", help="what a GPU's times are measured in turns with")
    parser.add_argument("--where", action="store_true", help="also what the server's processes were asked for, and how long that took")
    parser.add_argument("--no-asks", action="store_true", help="leave out what the server costs")
    parser.add_argument("--reference", help="a Python that has openenv-core: its server, asked the same")
    args = parser.parse_args()
    args.places = args.places or [os.cpu_count() if args.device.startswith("sim:") else 1]
    how = "modelled times" if args.device.startswith("sim:") else "measured in turns with %s, %s" % (args.against, MEASURED)
    print("cawb serve on %s (%s)\n%s\n" % (args.device, how, machine()))
    print("%-6s %-10s %-12s %-8s %10s %7s %9s %10s %14s %8s %8s %8s" % ("places", "size", "family", "task", "candidates", "passed", "seconds",
                                                                 "a second", "a second, core", "build ms", "verify", "measure"))
    for size in args.sizes:
        scores(args, size, ROUNDS.get(size, args.rounds))
    if not args.no_asks:
        asks(args)


if __name__ == "__main__":
    main()
