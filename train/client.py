"""client: what programs are worth, asked of `cawb serve` through POST /score. What was answered once is read from a file of one's own
ever after, so that runs, seeds and variants share it and none is measured twice."""
import json
import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "python"))

import cawb  # noqa: E402
import lang  # noqa: E402

# How the server judges while a policy learns: one draw and one further kind of inputs, small sizes, no confirmation.
BRIEF = {"verify.trials": 1, "verify.battery": "mixed", "verify.repeats": 0, "verify.denormals": False, "sweep.variants": 1,
         "confirm.enabled": False, "scale.memory": 1 << 20, "scale.operations": 10000000, "deadlines.compile": 240, "deadlines.run": 120,
         "deadlines.measure": 120}


def serve(suite, out, places=2, device="sim:h100", options=None):
    """A server of one's own; more options lie over those of BRIEF."""
    suites = [suite] if isinstance(suite, str) else list(suite)
    return cawb.serve(*suites, device=device, out=out, options=dict(BRIEF, **(options or {})), flags=("--places", str(places)))


def _late(result):
    """Whether a verdict speaks of a busy machine and not of the program: it is not kept."""
    return not result["ok"] and ("did not answer within" in result["reason"] or result["stage"] == "failed")


def _short(item):
    """What learning needs of an answer."""
    if not item["ok"]:
        return {"ok": False, "stage": item["stage"], "reason": str(item.get("reason"))[:120]}
    gain = {kind: speedup["median"] for kind, speedup in item["speedup"].items()}
    return {"ok": True, "stage": "pass", "seconds": item["time_s"]["median"], "eager": gain.get("eager", 1.0),
            "compile": gain.get("compile", gain.get("eager", 1.0)), "limit": lang.limit_of(item.get("bound"))}


UNREADABLE = {"ok": False, "stage": "reply", "reason": "a value that its decision does not have"}


class Tasks:
    """The tasks of a server with their decisions in one language, free or sound."""

    def __init__(self, env, memo, free=True):
        self.env, self.free, self.known, self.asked, self.evaluated = env, free, {}, 0, 0
        self.hashes = {task["key"]: task["hash"][:16] for task in env.tasks()}
        os.makedirs(os.path.dirname(memo) or ".", exist_ok=True)
        if os.path.exists(memo):
            self._read(memo)
        self.file = open(memo, "a", encoding="utf-8")

    def _read(self, path):
        with open(path, "rb+") as file:
            text = file.read()
            whole = text[:text.rfind(b"\n") + 1]                # a line that was cut off by a kill is dropped
            file.truncate(len(whole))
        for line in whole.decode().splitlines():
            key, value = json.loads(line)
            self.known[key] = value

    def _keep(self, key, value):
        self.known[key] = value
        if isinstance(value, dict) and _late(value):
            return
        self.file.write(json.dumps([key, value]) + "\n")
        self.file.flush()

    def _key(self, task, told):
        return self.hashes[task] + json.dumps(told, sort_keys=True)

    def points(self, task):
        """The decisions of a task, [] where compose's own schedule is not right on it."""
        key = self._key(task, {"points": "free" if self.free else "sound"})
        if key not in self.known:
            try:
                item = self.env.score(task, schedule={"points": "free" if self.free else "sound"})
            except cawb.Failed as error:
                item = {"ok": False, "stage": "failed", "reason": str(error)}
            self._keep(key, item["points"] if item["ok"] else [])
            self._keep(self._key(task, {}), _short(item))
        return self.known[key]

    def default(self, task):
        """What compose's own schedule is worth."""
        self.points(task)
        return self.known[self._key(task, {})]

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
        told = [lang.schedule(self.points(task), program, self.free) for task, program in pairs]
        keys = [None if one is None else self._key(task, one) for (task, _), one in zip(pairs, told)]
        wanted = {key: {"task": task, "candidate": {"schedule": dict(one, strict=self.free)}}
                  for key, (task, _), one in zip(keys, pairs, told) if key is not None and key not in self.known}
        if wanted:
            for key, item in zip(wanted, self._answers(list(wanted.values()))):
                self._keep(key, _short(item))
        self.asked, self.evaluated = self.asked + len(pairs), self.evaluated + len(wanted)
        return [UNREADABLE if key is None else self.known[key] for key in keys]

    def random(self, task, rng):
        """A program that is drawn evenly."""
        return lang.random_program(self.points(task), rng)

    def close(self):
        self.file.close()


def split(names, held_out, seed=1):
    """Tasks to learn on and tasks to be tested on, the same for a seed."""
    order = sorted(names)
    random.Random(seed).shuffle(order)
    return order[held_out:], order[:held_out]
