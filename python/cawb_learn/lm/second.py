"""second: second answers to learn. The model reads a first text of a task and the judge's words for it, as in an episode of several turns, and is to
answer with the fastest text. First texts are the teacher's, or the teacher's with a mistake; in RFT the model's own."""
import random
import re

from . import corpus, turns

NAME = re.compile(r"\b([a-z]+)(\d+)\b")


def damaged(text, rng):
    """A text with a mistake in its kernel: a line is left out, or a name has another number."""
    lines = text.split("\n")
    first = next(i for i, line in enumerate(lines) if line.endswith("{"))
    at = rng.randrange(first + 1, lines.index("}", first))
    names = list(NAME.finditer(lines[at]))
    if not names or rng.random() < 0.5:
        return "\n".join(lines[:at] + lines[at + 1:])
    name = rng.choice(names)
    lines[at] = lines[at][:name.start(2)] + str(int(name[2]) + rng.choice((-1, 1))) + lines[at][name.end(2):]
    return "\n".join(lines)


def right(row):
    """The verdict of a teacher's text."""
    return {"ok": True, "compile": row["compile"] or row["eager"]}


def drawn(folder, share, seed):
    """For a share of the tasks to learn on {task, prompt, shown, result, better}: one half show a text with a mistake, whose `result` is to be asked
    of the judge (None); the others the slowest text."""
    of, rng, made = {}, random.Random(seed), []
    for row in corpus.lines(folder + "/texts.jsonl"):
        if row["split"] == "train":
            of.setdefault(row["task"], []).append(row)
    for task, rows in of.items():
        if rng.random() < share:
            rows.sort(key=lambda row: row["time_s"])
            better, slow, wrong = rows[0]["completion"][0]["content"], rows[-1], rng.random() < 0.5
            made.append({"task": task, "prompt": slow["prompt"][0]["content"], "better": better, "result": None if wrong else right(slow),
                         "shown": damaged(better, rng) if wrong else slow["completion"][0]["content"]})
    return made


def own(tasks, answers, results):
    """The same of the model's own samples: of a task that has a right one, a wrong one, else the slowest, and the fastest."""
    for task, texts, of in zip(tasks, answers, results, strict=True):
        pairs = sorted(zip(texts, of, strict=True), key=lambda pair: pair[1]["time_s"] if pair[1]["ok"] else float("inf"))
        if pairs[0][1]["ok"]:
            yield {"task": task["name"], "prompt": task["prompt"], "shown": pairs[-1][0], "result": pairs[-1][1], "better": pairs[0][0]}


def encoded(tokenizer, one):
    """A row for a trainer, of which the second answer alone is learnt."""
    read = corpus.question(tokenizer, one["prompt"]) + corpus.answer(tokenizer, one["shown"]) + turns.told(tokenizer, one["result"])
    told = corpus.answer(tokenizer, one["better"])
    return {"input_ids": read + told, "labels": [-100] * len(read) + told, "length": len(read) + len(told)}


def rows(tokenizer, made, most):
    """Those that have `most` tokens or fewer."""
    return [row for row in (encoded(tokenizer, one) for one in made) if row["length"] <= most]
