"""TRL's `rollout_func` against `cawb serve`: a model has several turns at a task, and what it reads between them, how much of it
and in which words, is decided here and not by a chat template. Each turn of all episodes is one request of /score.

    trainer = trl.GRPOTrainer(..., rollout_func=trl_rollout.rollout(env, task_of), reward_funcs=trl_rollout.reward)
"""
import torch

from cawb import trl_env


def said(item):
    """What a model reads of a candidate."""
    if not item["ok"]:
        return "failed at %s: %s\n" % (item["stage"], item["reason"])
    ratio = (item.get("speedup") or {}).get("compile") or {}
    return "passed, %.2fx against compile\n" % ratio.get("median", 0.0)


def sample(trainer, rows, tokens):
    """The trainer's model goes on from each list of tokens: what it wrote, and the logarithm of how probable each token was."""
    tokenizer, model = trainer.processing_class, trainer.accelerator.unwrap_model(trainer.model)
    batch = tokenizer.pad({"input_ids": rows}, padding_side="left", return_tensors="pt").to(model.device)
    with torch.no_grad():
        out = model.generate(**batch, max_new_tokens=tokens, do_sample=True, temperature=trainer.args.temperature, top_k=0, top_p=1.0,
                             return_dict_in_generate=True, output_scores=True, pad_token_id=tokenizer.pad_token_id)
    new = out.sequences[:, batch["input_ids"].shape[1]:]
    sure = torch.stack(out.scores, 1).float().log_softmax(-1).gather(-1, new[..., None])[..., 0]
    lengths = [(row != tokenizer.pad_token_id).sum().item() or 1 for row in new]
    return [(ids[:n].tolist(), probs[:n].tolist()) for ids, probs, n in zip(new, sure, lengths, strict=True)]


class Episode:
    """A prompt and all that came after it; `mask` is 0 where the words are not the model's."""

    def __init__(self, task, prompt):
        self.task, self.prompt, self.ids, self.logprobs, self.mask, self.best = task, prompt, [], [], [], trl_env.WORST

    def add(self, ids, logprobs=None):
        self.ids += ids
        self.logprobs += logprobs or [0.0] * len(ids)
        self.mask += [int(logprobs is not None)] * len(ids)


def turn(trainer, env, episodes, decode, tokens):
    """All of them propose, and are told what came of it."""
    texts = []
    for one, (ids, logprobs) in zip(episodes, sample(trainer, [e.prompt + e.ids for e in episodes], tokens), strict=True):
        one.add(ids, logprobs)
        texts.append(trainer.processing_class.decode(ids, skip_special_tokens=True))
    return env.score_all([{"task": one.task, "candidate": decode(text, one.task)} for one, text in zip(episodes, texts, strict=True)])


def rollout(env, task_of, decode=None, turns=2, tokens=1024, shown=256, words=said):
    """A function for GRPOTrainer(rollout_func=...). `task_of(prompt)` names the task; `decode(text, task)` makes a candidate of
    a reply; `tokens` of one reply at most, `shown` of what the model reads of it, which `words(item)` says."""
    decode = decode or (lambda text, task: {"text": text})

    def roll(prompts, trainer):
        tokenizer = trainer.processing_class
        plain = [p if isinstance(p, str) else tokenizer.apply_chat_template(p, add_generation_prompt=True, tokenize=False) for p in prompts]
        episodes = [Episode(task_of(p), tokenizer(text)["input_ids"]) for p, text in zip(prompts, plain, strict=True)]
        for number in range(turns):
            for one, item in zip(episodes, turn(trainer, env, episodes, decode, tokens), strict=True):
                one.best = max(one.best, float(item["reward"]))
                if number + 1 < turns:
                    one.add(tokenizer(words(item))["input_ids"][:shown])
        return {"prompt_ids": [e.prompt for e in episodes], "completion_ids": [e.ids for e in episodes],
                "logprobs": [e.logprobs for e in episodes], "env_mask": [e.mask for e in episodes],
                "cawb_reward": [e.best for e in episodes]}
    return roll


def reward(cawb_reward, **_):
    """A function for `reward_funcs`: that of the best turn, as the rollout found it."""
    return cawb_reward
