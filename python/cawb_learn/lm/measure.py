"""measure: what samples on held-out tasks come to, and what is put beside them: the teacher's own texts."""
import json
import math
import os
import re

from . import corpus
from .knobs import MARGIN


def of_k(right, count, k):
    """How probable it is that one of k of `count` samples is right, of which `right` are: the estimate without bias."""
    return 1.0 if count - right < k else 1.0 - math.prod((count - right - i) / (count - i) for i in range(k))


def is_faster(result):
    return result["ok"] and result["compile"] >= 1.0 + MARGIN


OWN = re.compile(r"\b(k|x|y|v|e|p|acc|all|kept)(\d+)(_\w+)?\b")      # names that compose numbers


def bare(text):
    """A text up to the numbers of its kernels and values."""
    numbers = {}
    return OWN.sub(lambda m: m.group(1) + str(numbers.setdefault(m.group(0), len(numbers))) + (m.group(3) or ""), " ".join(text.split()))


def _mean(values):
    values = list(values)
    return sum(values) / len(values) if values else float("nan")


def table(results, answers, known, samples):
    """One row of the table: `results` and `answers` are a list for each task; `known` the teacher's texts, bare."""
    def share(test, k):
        return _mean(of_k(sum(map(test, of)), len(of), min(k, len(of))) for of in results)
    every = [one for of in results for one in of]
    best = [max((one["compile"] for one in of if one["ok"]), default=None) for of in results]
    solved = [math.log(one) for one in best if one]
    texts = [bare(text) for of in answers for text in of]
    return {"tasks": len(results), "samples": samples,
            "right@1": share(lambda one: one["ok"], 1), "right@%d" % samples: share(lambda one: one["ok"], samples),
            "faster@1": share(is_faster, 1), "faster@%d" % samples: share(is_faster, samples),
            "geomean of the best": math.exp(_mean(solved)) if solved else None,
            "unreadable": _mean(one["stage"] == "reply" for one in every), "not built": _mean(one["stage"] == "compile" for one in every),
            "new": _mean(text not in known for text in texts),
            "new and right": _mean(one["ok"] and text not in known for one, text in zip(every, texts, strict=True))}


def known_texts(folder):
    """The bare texts of the whole corpus."""
    return {bare(row["completion"][0]["content"]) for row in corpus.lines(os.path.join(folder, "texts.jsonl"))}


def teacher(folder, tasks):
    """Rows of what the teacher itself reaches on these tasks: its default, and its best."""
    names = {task["name"] for task in tasks}
    rows = [row for row in corpus.lines(os.path.join(folder, "texts.jsonl")) if row["task"] in names]
    found = {}
    for row in rows:
        found.setdefault(row["task"], []).append({"ok": True, "stage": None, "compile": row["compile"] or row["eager"], "eager": row["eager"]})
    first = [[of[0]] for of in found.values()]
    best = [[max(of, key=lambda one: one["compile"])] for of in found.values()]
    return {name: {"tasks": len(of), "right@1": 1.0, "faster@1": _mean(is_faster(one[0]) for one in of),
                   "geomean of the best": math.exp(_mean(math.log(one[0]["compile"]) for one in of)) if of else None}
            for name, of in (("teacher's default", first), ("teacher's best", best))}


def nearest(folder, tasks, samples, seed=1):
    """Answers by memory alone: for each task texts, drawn at random, of the task to learn on whose question is most like its own."""
    import random
    known, rng = corpus.teachers(folder, "train"), random.Random(seed)
    words = {task["name"]: corpus.words(task["prompt"]) for task in corpus.tasks(folder, "train")}
    picked = [known[corpus.most_like(corpus.words(task["prompt"]), words)] for task in tasks]
    return [[rng.choice(rows)["completion"][0]["content"] for _ in range(samples)] for rows in picked]


def keep(path, row):
    """A row of results in a file of lines."""
    with open(path, "a", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\n")
