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
        items = [{"task": task, "candidate": {"short": text.replace("\0", "\ufffd")}} for task, text in part]     # a server takes no NUL
        found = dict(zip(part, map(short, _answers(env, items)), strict=True))
        known.update(found)
        if kept:
            with open(kept, "a", encoding="utf-8") as file:
                file.writelines(json.dumps([*pair, result]) + "\n" for pair, result in found.items())
    return [known[pair] for pair in pairs]


def _lost(answer):
    return "error" in answer and "reward" not in answer


def _asked(env, items):
    """The server's answers; where it failed on all of them, but is there, each is lost."""
    try:
        return env.score_all(items, strict=False)
    except cawb.Failed as error:
        env.health()
        return [{"error": str(error)} for _ in items]


def _answers(env, items):
    """An answer for each item. The items on which the machine failed are asked once more, together; then they have failed."""
    answers = _asked(env, items)
    lost = [i for i, answer in enumerate(answers) if _lost(answer)]
    for i, answer in zip(lost, _asked(env, [items[i] for i in lost]), strict=True):
        answers[i] = dict(answer, stage="failed") if _lost(answer) else answer
    return answers
