"""second: second answers to learn. The model reads a first text of a task and the judge's words for it, as in an episode of several turns, and is to
answer with the fastest text. First texts are the teacher's, also with a mistake or of another task; in RFT the model's own."""
import random
import re

from . import corpus, turns

NAME = re.compile(r"\b([a-z]+)(\d+)\b")
OTHERS = 100              # tasks among which the one that is most like a task is looked for


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


def text_of(row):
    return row["completion"][0]["content"]


def wrong(task, known, words, rng):
    """The task's fastest text with a mistake, or a text of another task that is like it."""
    others = [name for name in words if name != task]
    if not others or rng.random() < 0.5:
        return damaged(text_of(known[task][0]), rng)
    picked = rng.sample(others, min(OTHERS, len(others)))
    return text_of(known[corpus.most_like(words[task], {name: words[name] for name in picked})][0])


def drawn(folder, share, seed):
    """For a share of the tasks to learn on {task, prompt, shown, result, better}: one half show the slowest text, if that is not the fastest itself: the
    model would learn to write again what it reads. The others show a wrong text, whose `result` is to be asked of the judge (None)."""
    known, rng, made = corpus.teachers(folder, "train"), random.Random(seed), []
    words = {task: corpus.words(rows[0]["prompt"][0]["content"]) for task, rows in known.items()}
    for task, rows in known.items():
        if rng.random() < share:
            better, slow = text_of(rows[0]), rows[-1]
            is_wrong = rng.random() < 0.5 or text_of(slow) == better
            made.append({"task": task, "prompt": slow["prompt"][0]["content"], "better": better, "result": None if is_wrong else right(slow),
                         "shown": wrong(task, known, words, rng) if is_wrong else text_of(slow)})
    return [one for one in made if one["shown"] != one["better"]]


def own(tasks, answers, results, known):
    """The same of the model's own samples: each wrong one, else the slowest. The answer is the fastest right one; where none is right, the teacher's."""
    for task, texts, of in zip(tasks, answers, results, strict=True):
        found = sorted(zip(texts, of, strict=True), key=lambda pair: pair[1]["time_s"] if pair[1]["ok"] else float("inf"))
        better = found[0][0] if found[0][1]["ok"] else text_of(known[task["name"]][0])
        shown = {text: result for text, result in found if not result["ok"]} or dict(found[-1:])
        for text, result in shown.items():
            if text != better:
                yield {"task": task["name"], "prompt": task["prompt"], "shown": text, "result": result, "better": better}


def encoded(tokenizer, one):
    """A row for a trainer, of which the second answer alone is learnt."""
    read = corpus.question(tokenizer, one["prompt"]) + corpus.answer(tokenizer, one["shown"]) + turns.told(tokenizer, one["result"])
    told = corpus.answer(tokenizer, one["better"])
    return {"input_ids": read + told, "labels": [-100] * len(read) + told, "length": len(read) + len(told)}


def rows(tokenizer, made, most):
    """Those that have `most` tokens or fewer."""
    return [row for row in (encoded(tokenizer, one) for one in made) if row["length"] <= most]
