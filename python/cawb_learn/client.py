"""client: what programs are worth, asked of `cawb serve` through POST /score. What was answered once is read from a file of one's own
ever after, so that runs, seeds and variants share it and none is measured twice."""
import concurrent.futures
import contextlib
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


def serve(suite, out, places, device, options, resident):
    """A server of one's own, whose places keep so many tasks each; more options lie over those of BRIEF."""
    return cawb.serve(*suite, device=device, out=out, options=dict(BRIEF, **options), flags=("--places", str(places), "--resident", str(resident)))


def _short(item):
    """What learning needs of an answer."""
    if not item["ok"]:
        return {"ok": False, "stage": item["stage"], "reason": str(item.get("reason"))[:120]}
    gain = {kind: speedup["median"] for kind, speedup in item["speedup"].items()}
    return {"ok": True, "stage": "pass", "seconds": item["time_s"]["median"], "eager": gain.get("eager", 1.0),
            "compile": gain.get("compile", gain.get("eager", 1.0)), "limit": lang.limit_of(item.get("bound"))}


UNREADABLE = {"ok": False, "stage": "reply", "reason": "a value that its decision does not have"}


class Memo:
    """Answers by key in a file that several processes add to: each line is one write, and all read it as it grows."""

    def __init__(self, path):
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        self.known, self.read, self.lock, self.file = {}, 0, threading.Lock(), open(path, "ab+", buffering=0)
        self.refresh()
        if self.read < os.path.getsize(path):
            self.file.write(b"\n")                     # behind a line that was cut off by a kill

    def refresh(self):
        """What others have answered meanwhile."""
        with self.lock:
            self.file.seek(self.read)
            text = self.file.read()
        whole = text[:text.rfind(b"\n") + 1]
        self.read += len(whole)
        for line in whole.splitlines():
            with contextlib.suppress(ValueError):      # that line
                self.known.setdefault(*json.loads(line))

    def keep(self, key, value):
        """Kept in the file, too, where it does not speak of a busy machine."""
        self.known[key] = value
        if isinstance(value, list) or value["ok"] or value["stage"] != "failed" and "did not answer within" not in value["reason"]:
            with self.lock:
                self.file.write((json.dumps([key, value]) + "\n").encode())


class Tasks:
    """The tasks of a server with their decisions, and what programs are worth on them."""

    def __init__(self, env, memo):
        self.env, self.asked, self.evaluated, self.memo = env, 0, 0, Memo(memo)
        self.known, self.hashes = self.memo.known, {task["key"]: task["hash"][:16] for task in env.tasks()}

    def _key(self, task, told):
        return self.hashes[task] + json.dumps(told, sort_keys=True)

    def decisions(self, task):
        """The decisions of a task, [] where compose's own schedule is not right on it."""
        key = self._key(task, {"decisions": True})
        if key not in self.known:
            try:
                item = self.env.score(task, schedule={"decisions": True})
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
        """The decisions of many tasks, some at once."""
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            return dict(zip(names, pool.map(self.decisions, names)))

    def _answers(self, items):
        """Each item's answer; one that the machine failed on is asked alone, and counts as a failure if it fails again."""
        try:
            return self.env.score_all(items)
        except cawb.Failed as error:
            if len(items) == 1:
                return [{"ok": False, "stage": "failed", "reason": str(error)}]
            return [self._answers([item])[0] for item in items]

    def score(self, pairs):
        """A list of (task, program): for each its result, {"ok", "stage", "seconds", "eager", "compile", "limit"}."""
        self.memo.refresh()
        told = [lang.schedule(self.decisions(task), program) for task, program in pairs]
        keys = [None if one is None else self._key(task, one) for (task, _), one in zip(pairs, told)]
        wanted = {key: {"task": task, "candidate": {"schedule": one}}
                  for key, (task, _), one in zip(keys, pairs, told) if key is not None and key not in self.known}
        if wanted:
            for key, item in zip(wanted, self._answers(list(wanted.values()))):
                self.memo.keep(key, _short(item))
        self.asked, self.evaluated = self.asked + len(pairs), self.evaluated + len(wanted)
        return [UNREADABLE if key is None else self.known[key] for key in keys]

    def close(self):
        self.memo.file.close()
        self.env.close()


def split(names, held_out, kept=(), seed=1):
    """Tasks to learn on and tasks to be tested on, the same for a seed; those that were held out before stay it, where a suite has grown."""
    order = sorted(names)
    random.Random(seed).shuffle(order)
    test = [name for name in kept if name in order] or order[:held_out]
    return [name for name in order if name not in test], test
