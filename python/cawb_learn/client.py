"""client: what programs are worth, asked of `cawb serve` through POST /score. What was answered once is read from a file of one's own
ever after, so that runs, seeds and variants share it and none is measured twice."""
import concurrent.futures
import glob
import json
import os
import random
import sys
import threading

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import cawb  # noqa: E402
import lang  # noqa: E402

# How the server judges while a policy learns: one draw and one further kind of inputs, small sizes, no confirmation.
BRIEF = {"verify.trials": 1, "verify.battery": "mixed", "verify.repeats": 0, "verify.denormals": False, "sweep.variants": 1,
         "confirm.enabled": False, "scale.memory": 1 << 20, "scale.operations": 10000000, "deadlines.compile": 240, "deadlines.run": 120, "deadlines.measure": 120}


def serve(suite, out, places=2, device="sim:h100", options=None, resident=8):
    """A server of one's own, whose places keep so many tasks each; more options lie over those of BRIEF."""
    return cawb.serve(*([suite] if isinstance(suite, str) else suite), device=device, out=out, options=dict(BRIEF, **(options or {})),
                      flags=("--places", str(places), "--resident", str(resident)))


def _short(item):
    """What learning needs of an answer."""
    if not item["ok"]:
        return {"ok": False, "stage": item["stage"], "reason": str(item.get("reason"))[:120]}
    gain = {kind: speedup["median"] for kind, speedup in item["speedup"].items()}
    return {"ok": True, "stage": "pass", "seconds": item["time_s"]["median"], "eager": gain.get("eager", 1.0),
            "compile": gain.get("compile", gain.get("eager", 1.0)), "limit": lang.limit_of(item.get("bound"))}


UNREADABLE = {"ok": False, "stage": "reply", "reason": "a value that its decision does not have"}


class Memo:
    """Answers by key, in files beside one another: one's own, and those of other processes, which are read as they grow."""

    def __init__(self, path, own=""):
        root, end = os.path.splitext(path)
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        self.known, self.read, self.files, self.lock = {}, {}, glob.escape(root) + "*" + end, threading.Lock()
        self.file = open(root + own + end, "ab+")
        self.file.seek(0)
        self.file.truncate(self.file.read().rfind(b"\n") + 1)  # a line that was cut off by a kill is dropped
        self.refresh()

    def refresh(self):
        """What others have answered meanwhile."""
        with self.lock:
            for path in glob.glob(self.files):
                with open(path, "rb") as file:
                    file.seek(self.read.get(path, 0))
                    text = file.read()
                whole = text[:text.rfind(b"\n") + 1]
                self.read[path] = self.read.get(path, 0) + len(whole)
                for key, value in map(json.loads, whole.decode().splitlines()):
                    self.known.setdefault(key, value)

    def keep(self, key, value):
        """Kept in the file, too, where it does not speak of a busy machine."""
        self.known[key] = value
        if isinstance(value, list) or value["ok"] or value["stage"] != "failed" and "did not answer within" not in value["reason"]:
            self.file.write((json.dumps([key, value]) + "\n").encode())
            self.file.flush()


class Tasks:
    """The tasks of servers with their decisions in one language, free or sound. Of several servers each evaluates tasks of its own."""

    def __init__(self, env, memo, free=True, own=""):
        self.envs, self.free, self.asked, self.evaluated = env if isinstance(env, list) else [env], free, 0, 0
        all_of = self.envs[0].tasks()
        self.hashes = {task["key"]: task["hash"][:16] for task in all_of}
        self.server = {task["key"]: self.envs[k % len(self.envs)] for k, task in enumerate(all_of)}
        self.memo = Memo(memo, own)
        self.known = self.memo.known

    def _key(self, task, told):
        return self.hashes[task] + json.dumps(told, sort_keys=True)

    def decisions(self, task):
        """The decisions of a task, [] where compose's own schedule is not right on it."""
        key = self._key(task, {"decisions": "free" if self.free else "sound"})
        if key not in self.known:
            try:
                item = self.server[task].score(task, schedule={"decisions": "free" if self.free else "sound"})
            except cawb.Failed as error:
                item = {"ok": False, "stage": "failed", "reason": str(error)}
            self.memo.keep(key, item["decisions"] if item["ok"] else [])
            self.memo.keep(self._key(task, {}), _short(item))
        return self.known[key]

    def default(self, task):
        """What compose's own schedule is worth."""
        self.decisions(task)
        return self.known[self._key(task, {})]

    def survey(self, names):
        """The decisions of many tasks, all servers at once."""
        with concurrent.futures.ThreadPoolExecutor(4 * len(self.envs)) as pool:
            return dict(zip(names, pool.map(self.decisions, names)))

    def _answers(self, items):
        """Each item's answer, of the server that has its task."""
        by_server = {}
        for k, item in enumerate(items):
            by_server.setdefault(self.server[item["task"]], []).append(k)
        found = [None] * len(items)
        with concurrent.futures.ThreadPoolExecutor(len(by_server)) as pool:
            for numbers, answers in zip(by_server.values(), pool.map(lambda one: self._of(one[0], [items[k] for k in one[1]]), by_server.items())):
                for k, answer in zip(numbers, answers):
                    found[k] = answer
        return found

    def _of(self, env, items):
        """Answers of one server; an item that the machine failed on is asked alone, and counts as a failure if it fails again."""
        try:
            return env.score_all(items)
        except cawb.Failed as error:
            if len(items) == 1:
                return [{"ok": False, "stage": "failed", "reason": str(error)}]
            return [self._of(env, [item])[0] for item in items]

    def score(self, pairs):
        """A list of (task, program): for each its result, {"ok", "stage", "seconds", "eager", "compile", "limit"}."""
        self.memo.refresh()
        told = [lang.schedule(self.decisions(task), program, self.free) for task, program in pairs]
        keys = [None if one is None else self._key(task, one) for (task, _), one in zip(pairs, told)]
        wanted = {key: {"task": task, "candidate": {"schedule": dict(one, strict=self.free)}}
                  for key, (task, _), one in zip(keys, pairs, told) if key is not None and key not in self.known}
        if wanted:
            for key, item in zip(wanted, self._answers(list(wanted.values()))):
                self.memo.keep(key, _short(item))
        self.asked, self.evaluated = self.asked + len(pairs), self.evaluated + len(wanted)
        return [UNREADABLE if key is None else self.known[key] for key in keys]

    def random(self, task, rng):
        """A program that is drawn evenly."""
        return lang.random_program(self.decisions(task), rng)

    def close(self):
        self.memo.file.close()


def split(names, held_out, kept=(), seed=1):
    """Tasks to learn on and tasks to be tested on, the same for a seed; those that were held out before stay it, where a suite has grown."""
    order = sorted(names)
    random.Random(seed).shuffle(order)
    test = [name for name in kept if name in order] or order[:held_out]
    return [name for name in order if name not in test], test
