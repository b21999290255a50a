"""judge: what texts in the short form are worth, asked of `cawb serve`."""
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

import cawb  # noqa: E402

# As texts were judged when they were taught: brief, at sizes that tasks have already.
OPTIONS = {"verify.trials": 1, "verify.battery": "mixed,integers", "verify.repeats": 0, "verify.denormals": False, "sweep.variants": 1,
           "confirm.enabled": False, "deadlines.compile": 10, "deadlines.run": 10, "deadlines.measure": 10, "simulate.threads": 1}

PART = 256                        # texts of a request


def serve(folder, out, places, device="sim:h100", reward=None):
    """A server of one's own on the taught tasks of a corpus."""
    return cawb.serve(os.path.join(folder, "taught.jsonl"), device=device, out=out, options=OPTIONS, config=reward,
                      flags=("--places", str(places), "--resident", "1"))


def short(item):
    """What is kept of an answer."""
    row = {"ok": bool(item.get("ok")), "stage": item.get("stage"), "reason": str(item.get("reason") or item.get("error") or "")[:300],
           "reward": item.get("reward", -1.0)}
    if row["ok"]:
        gain = {kind: one["median"] for kind, one in item["speedup"].items()}
        row.update(time_s=item["time_s"]["median"], eager=gain.get("eager"), compile=gain.get("compile", gain.get("eager")))
    return row


def _known(path):
    """What a file has of earlier answers; its last line may be cut."""
    known = {}
    for line in open(path, encoding="utf-8") if path and os.path.exists(path) else ():
        if line.endswith("\n"):
            task, text, result = json.loads(line)
            known[task, text] = result
    return known


def score(env, pairs, kept=None):
    """A list of (task, text): what each is worth. Equal ones are asked once; what the machine fails on is a failure. A file may keep the
    answers, part by part: what it has is not asked again."""
    known = _known(kept)
    wanted = sorted(set(pairs) - set(known))
    for first in range(0, len(wanted), PART):
        part = wanted[first:first + PART]
        items = [{"task": task, "candidate": {"short": text}} for task, text in part]
        try:
            answers = env.score_all(items)
        except cawb.Failed:
            answers = [_one(env, item) for item in items]
        found = dict(zip(part, map(short, answers), strict=True))
        known.update(found)
        if kept:
            with open(kept, "a", encoding="utf-8") as file:
                file.writelines(json.dumps([*pair, result]) + "\n" for pair, result in found.items())
    return [known[pair] for pair in pairs]


def _one(env, item):
    try:
        return env.score_all([item])[0]
    except cawb.Failed as error:
        return {"ok": False, "stage": "failed", "reason": str(error)}
