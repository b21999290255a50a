"""turns: episodes of several turns at a task. Between them the model reads what the judge says of its text. A turn pays what its reward is above
that of the turn before: the last answer counts, so a right one that is lost costs."""
import time

import torch

from . import corpus, judge, samples

WORST = -1.0                                  # the reward before the first turn
SHOWN = 96                                    # tokens of the judge's words at most


def said(result):
    """The judge's words for a result."""
    if not result["ok"]:
        return "It failed at %s: %s" % (result["stage"], result["reason"])
    return "It is right, and %.2f times as fast as torch.compile. Make it faster." % result["compile"]


class Episode:
    """Tokens, and for each whether the model chose it, and what it was paid."""

    def __init__(self, task, asked):
        self.task, self.tokens, self.mask, self.rewards, self.last = task, list(asked), [0] * len(asked), [0.0] * len(asked), WORST
        self.texts, self.results = [], []

    def add(self, tokens, chosen):
        self.tokens += tokens
        self.mask += [int(chosen)] * len(tokens)
        self.rewards += [0.0] * len(tokens)

    def paid(self, text, result):
        self.texts.append(text)
        self.results.append(result)
        self.rewards[-1] += result["reward"] - self.last
        self.last = result["reward"]


def told(tokenizer, result):
    """The tokens between two answers: the judge's words as a message."""
    words = tokenizer.decode(tokenizer(said(result), add_special_tokens=False)["input_ids"][:SHOWN])
    return tokenizer("\n<|im_start|>user\n%s<|im_end|>\n<|im_start|>assistant\n" % words, add_special_tokens=False)["input_ids"]


def play(model, tokenizer, env, tasks, knobs, turns, temperature=1.0, say=print):
    """An episode for each task of a list, in which one may stand several times; and the seconds of writing and of judging."""
    model.eval()
    episodes = [Episode(task["name"], corpus.question(tokenizer, task["prompt"])) for task in tasks]
    spent = {"writing_s": 0.0, "judging_s": 0.0}
    for number in range(turns):
        begin = time.monotonic()
        answers = samples.complete(model, tokenizer, [one.tokens for one in episodes], knobs, temperature)
        texts = [tokenizer.decode(ids, skip_special_tokens=True) for ids in answers]
        written = time.monotonic()
        say("turn %d: %d texts written in %.1f s" % (number + 1, len(texts), written - begin))
        results = judge.score(env, [(one.task, text) for one, text in zip(episodes, texts, strict=True)])
        judged = time.monotonic()
        say("turn %d: judged in %.1f s, %d right" % (number + 1, judged - written, sum(result["ok"] for result in results)))
        spent["writing_s"] += written - begin
        spent["judging_s"] += judged - written
        for one, ids, text, result in zip(episodes, answers, texts, results, strict=True):
            one.add(ids or [tokenizer.pad_token_id], True)
            one.paid(text, result)
            if number + 1 < turns:
                one.add(told(tokenizer, result), False)
    return episodes, spent


def batch_of(episodes, pad, device):
    """Episodes as tensors. Place k of `mask` and `rewards` belongs to token k + 1, which is chosen after the tokens to k."""
    most = max(len(one.tokens) for one in episodes)
    def wide(lists, fill, dtype):
        return torch.tensor([list(row) + [fill] * (most - len(row)) for row in lists], dtype=dtype, device=device)
    return {"tokens": wide([one.tokens for one in episodes], pad, torch.long), "there": wide([[1] * len(one.tokens) for one in episodes], 0, torch.long),
            "mask": wide([one.mask for one in episodes], 0, torch.float32)[:, 1:], "rewards": wide([one.rewards for one in episodes], 0.0, torch.float32)[:, 1:]}
