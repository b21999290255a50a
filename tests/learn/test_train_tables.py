"""bench/learn/learning.py, picks.py and policy.py: what is made of an ablation's runs."""
import importlib.util
import json
import os
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(ROOT, "python/cawb_learn"), os.path.join(ROOT, "bench", "learn")]

import client  # noqa: E402
import learning  # noqa: E402
import picks  # noqa: E402


def test_statistics():
    mean, lo, hi, p = learning.bootstrap({(task, seed): 1.0 for task in "abc" for seed in (0, 1)}, 200)
    assert (mean, lo, hi) == (1.0, 1.0, 1.0) and p < 0.05
    assert learning.bootstrap({(task, 0): 0.0 for task in "abc"}, 200)[3] == 1.0
    assert learning.bootstrap({(task, 0): d for task, d in zip("abcd", (1, -1, 1, -1))}, 500)[3] > 0.3
    anchors = {task: {"compile": 1.0, "eager": 1.0, "seconds": 1.0, "best": 0.5} for task in "abc"}
    half, whole = ({(task, 0): [seconds] * 8 for task in "abc"} for seconds in (0.5, 1.0))
    assert learning.ahead(anchors, half, 8, whole, 4) == "2.000x [2.000, 2.000], 3 tasks, 1 seeds"
    assert learning.faster(anchors, half, 8, whole, 4) == "100% against 0%" and learning.faster(anchors, half, 8, None, 4) == "not run"
    assert learning.share(anchors, half, 8, whole, 8) == "1.00 against 0.50; right 100% against 100%"
    assert learning.share(anchors, {("a", 0): [None] * 8}, 8, whole, 8) == "0.00 against 0.50; right 0% against 100%"
    assert learning.ahead(anchors, half, 9, whole, 4) == "not run on three tasks"
    assert learning.holm({"a": 0.01, "b": 0.04, "c": 0.03}) == {"a": 0.03, "c": 0.06, "b": 0.06}


def test_picks():
    """What was chosen is found again by its time, and stands beside what a device made of it."""
    told = {"cuts": ["1.1|2.1"], "strict": True}
    known = {"a" * 16 + "{}": {"ok": True, "seconds": 2.0}, "a" * 16 + json.dumps(told): {"ok": True, "seconds": 1.0},
             "a" * 16 + '{"decisions": "free"}': [], "b" * 16 + "{}": {"ok": True, "seconds": 1.0}}
    assert picks.schedules(known, {"a": "a" * 16}) == {("a", 2.0): {}, ("a", 1.0): told}
    text, own = json.dumps(told, sort_keys=True), {"ok": True, "seconds": 4.0}
    lines = picks.shown({("full", 0, "a"): 1.0, ("full", 1, "a"): None}, {("a", text): {"ok": True, "seconds": 1.0}, ("a", "{}"): own},
                        {("a", 1.0): told}, {"a": (2.0, own)})
    assert "| full | 1 of 2 | 2.00x | 4.00x |" in lines, lines
    assert lines[-1] == "| a | 2, 2 | 2000000.00, 4000000.00 | 1000000.00, 1000000.00 | - |", lines
    assert picks.correlation([1, 2, 3], [10, 20, 30]) == 1.0 and picks.correlation([1, 2, 3], [5, 5, 5]) is None
    assert picks.ranks([3, 1, 1]) == [2.0, 0.5, 0.5]


class Server:
    """In place of a server that is busy at first."""

    def __init__(self):
        self.asked = []

    def tasks(self):
        return [{"key": "a", "hash": "a" * 64}]

    def score(self, task, schedule, confirm):
        self.asked.append(json.dumps(schedule))
        assert confirm
        if len(self.asked) == 1:
            raise client.cawb.Failed("the machine is busy")
        return {"ok": True, "time_s": {"median": 2.0}, "speedup": {"eager": {"median": 3.0}}}


def test_timed():
    """compose's own comes first; what the machine failed on is asked again, what is known is not."""
    wanted, text = [("a", {"cuts": ["1.1|2.1"]}), ("a", {})], '{"cuts": ["1.1|2.1"]}'
    with tempfile.TemporaryDirectory() as folder:
        tasks = client.Tasks(Server(), os.path.join(folder, "timed.jsonl"))
        found = picks.timed(tasks, wanted, time.monotonic() + 3600)
        assert tasks.envs[0].asked == ["{}", "{}", text] and found[("a", text)]["seconds"] == 2.0 and len(found) == 2
        assert picks.timed(tasks, wanted, 0) == found and len(tasks.envs[0].asked) == 3
        assert picks.timed(tasks, [("a", {"cuts": []})], 0) == {}, "there is no time left"
        tasks.close()


def test_tuned():
    """The tuner's times are of a judge of its own: its gains over its first measurement are carried over."""
    spec = importlib.util.spec_from_file_location("bench_policy", os.path.join(ROOT, "bench", "learn", "policy.py"))
    bench = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(bench)
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
        file.write('{"task": "a", "curve": [2.0, 1.0]}\n')
        file.flush()
        found = bench.tuned(file.name, {"a": ({"policy": [1.0] * 4}, {"seconds": 4.0}), "b": ({}, {"seconds": 1.0})}, 4)
    assert found == {"a": ({"policy": [1.0] * 4, "tuner": [4.0, 2.0, 2.0, 2.0]}, {"seconds": 4.0})}


if __name__ == "__main__":
    for name, one in list(globals().items()):
        if name.startswith("test_") and callable(one):
            one()
            print("ok  ", name)
