"""corpus: the files of `cawb synth --teach`, and texts as tokens. Only an answer's tokens are learnt."""
import json
import os
import random
import re

HELD_OUT = ("families", "pairs", "sizes")     # the splits that are measured on


def lines(path):
    """The rows of a file of JSON Lines."""
    try:
        with open(path, encoding="utf-8") as file:
            return [json.loads(line) for line in file if line.strip()]
    except FileNotFoundError:
        raise SystemExit("%s: there is no such file; cawb synth --teach --out %s makes it" % (path, os.path.dirname(path) or ".")) from None


def tasks(folder, *splits):
    """The tasks of these splits, or of all."""
    return [row for row in lines(os.path.join(folder, "taught.jsonl")) if not splits or row["split"] in splits]


def teachers(folder, split):
    """{task: its rows of the teacher's, the fastest first}."""
    found = {}
    for row in lines(os.path.join(folder, "texts.jsonl")):
        if row["split"] == split:
            found.setdefault(row["task"], []).append(row)
    return {task: sorted(rows, key=lambda row: row["time_s"]) for task, rows in found.items()}


def words(prompt):
    """What two questions are compared by: names, numbers and shapes."""
    return set(re.findall(r"\w+|\{[\d, ]*\}", prompt))


def most_like(own, others):
    """The key of the other whose words are most like these."""
    return max(others, key=lambda name: len(own & others[name]) / (len(own | others[name]) or 1))


def held_out(folder, count, seed=1):
    """Tasks to be measured on: of each held-out split alike many, as far as there are."""
    groups = [tasks(folder, split) for split in HELD_OUT]
    for group in groups:
        random.Random(seed).shuffle(group)
    picked = [group[i] for i in range(max(map(len, groups))) for group in groups if i < len(group)]
    if not picked:
        raise SystemExit("%s: no task is held out, so nothing can be measured; a larger set has some" % folder)
    return picked[:count]


def question(tokenizer, prompt):
    """The tokens of what a model is asked."""
    return tokenizer.apply_chat_template([{"role": "user", "content": prompt}], add_generation_prompt=True, tokenize=True, return_dict=False)


def answer(tokenizer, text):
    """The tokens of an answer, with its end."""
    return tokenizer(text + "<|im_end|>", add_special_tokens=False)["input_ids"]


def encoded(tokenizer, prompt, text):
    """A row for a trainer: labels of -100 are not learnt."""
    asked, told = question(tokenizer, prompt), answer(tokenizer, text)
    return {"input_ids": asked + told, "labels": [-100] * len(asked) + told, "length": len(asked) + len(told)}


def texts(folder, tokenizer, most, *splits):
    """The rows of the texts of these splits that have `most` tokens or fewer."""
    rows = [encoded(tokenizer, row["prompt"][0]["content"], row["completion"][0]["content"])
            for row in lines(os.path.join(folder, "texts.jsonl")) if row["split"] in splits]
    return [row for row in rows if row["length"] <= most]


def texts_held_out(folder, tokenizer, most, count, seed=1):
    """Some of the texts of held-out tasks, at random."""
    rows = texts(folder, tokenizer, most, *HELD_OUT)
    return random.Random(seed).sample(rows, min(count, len(rows)))
