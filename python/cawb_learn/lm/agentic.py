"""agentic: RL of several turns, by PPO. The critic is the same model with one number for each token in place of words (transformers' head for tokens);
it learns alone in stage `critic`, ahead of the actor."""
import math
import os
import random
import time

import peft
import torch
import transformers

from . import imitation, ppo, turns, weights


def critic_of(model, knobs, folder=None):
    """A critic that begins as this plain model, and says 0 of each token; with adapters, new ones or those of a folder."""
    config = type(model.config).from_dict(dict(model.config.to_dict(), id2label={0: "value"}, label2id={"value": 0}, classifier_dropout=0.0))
    with model.device:                        # a GPU draws first weights at once; these are then replaced
        critic = transformers.AutoModelForTokenClassification.from_config(config, dtype=model.dtype)
    critic.load_state_dict(model.state_dict(), strict=False)
    critic.score.float()                      # what learns is not kept in half precision
    for weight in critic.score.parameters():
        torch.nn.init.zeros_(weight)          # random values would be noise of the size of rewards: advantages of nothing else
    if folder:
        return peft.PeftModel.from_pretrained(critic, folder, is_trainable=True)
    return peft.get_peft_model(critic, peft.LoraConfig(r=knobs["rank"], lora_alpha=knobs["alpha"], target_modules="all-linear", exclude_modules=["score"],
                                                         task_type="TOKEN_CLS"))


def _near(module):
    return torch.autocast(module.device.type, torch.bfloat16, enabled=module.device.type == "cuda")


def log_probabilities(actor, batch):
    """Of each token given those before it."""
    with _near(actor):
        logits = actor(input_ids=batch["tokens"], attention_mask=batch["there"]).logits[:, :-1]
    return -torch.nn.functional.cross_entropy(logits.float().transpose(1, 2), batch["tokens"][:, 1:], reduction="none")


def values_of(critic, batch):
    """The value ahead of each token."""
    with _near(critic):
        return critic(input_ids=batch["tokens"], attention_mask=batch["there"]).logits[:, :-1, 0].float()


class Learner:
    """Actor, critic, and their optimisers; a file has what the next step needs."""

    def __init__(self, actor, copy, critic, tokenizer, knobs, path):
        self.actor, self.copy, self.critic, self.tokenizer, self.knobs, self.path, self.step = actor, copy, critic, tokenizer, knobs, path, 0
        self.log = []
        self.optimizers = {name: torch.optim.AdamW([p for p in module.parameters() if p.requires_grad], lr=knobs[name + "_rate"], weight_decay=0.0)
                           for name, module in (("actor", actor), ("critic", critic))}
        if os.path.exists(path):
            self._read(torch.load(path, weights_only=True))

    def _modules(self):
        return {"actor": self.actor, "critic": self.critic}

    def save(self):
        state = {"step": self.step, "log": self.log}
        for name, module in self._modules().items():
            state[name] = {key: p for key, p in module.named_parameters() if p.requires_grad}
            state[name + " optimizer"] = self.optimizers[name].state_dict()
        torch.save(state, self.path + ".new")
        os.replace(self.path + ".new", self.path)

    def _read(self, state):
        self.step, self.log = state["step"], state["log"]
        for name, module in self._modules().items():
            module.load_state_dict(state[name], strict=False)
            self.optimizers[name].load_state_dict(state[name + " optimizer"])

    def episodes(self, env, tasks, say):
        """New episodes of this step's tasks, and seconds."""
        torch.manual_seed(self.knobs["seed"] * 100003 + self.step)
        drawn = random.Random("%d:%d" % (self.knobs["seed"], self.step)).choices(tasks, k=self.knobs["agentic_tasks"])
        weights.fold(self.copy, self.actor)
        return turns.play(self.copy, self.tokenizer, env, [task for task in drawn for _ in range(self.knobs["agentic_group"])], self.knobs,
                          self.knobs["turns"], say=say)

    def _parts(self, episodes):
        """Tensors of some episodes each, with the log-probabilities and values of now, advantages and returns. A return is all that follows (lambda 1):
        with the actor's lambda the first of 300 tokens would learn 5% of it (VC-PPO, arXiv 2503.01491)."""
        parts, some = [], self.knobs["agentic_at_a_time"]
        for first in range(0, len(episodes), some):
            part = turns.batch_of(episodes[first:first + some], self.tokenizer.pad_token_id, self.actor.device)
            with torch.no_grad():
                part["logs"], part["values"] = log_probabilities(self.actor, part), values_of(self.critic, part) * part["mask"]
            part["advantages"] = ppo.gae(part["rewards"], part["values"], part["mask"], 1.0, self.knobs["lambda"])[0]
            part["returns"] = ppo.gae(part["rewards"], part["values"], part["mask"], 1.0, 1.0)[1]
            parts.append(part)
        picked = torch.cat([part["advantages"][part["mask"] > 0] for part in parts])
        for part in parts:
            part["advantages"] = (part["advantages"] - picked.mean()) / (picked.std() + 1e-8)
        return parts

    def _stepped(self, name):
        module = self._modules()[name]
        norm = torch.nn.utils.clip_grad_norm_([p for p in module.parameters() if p.requires_grad], 1.0)
        if norm.isfinite():            # else all weights would be lost with it
            self.optimizers[name].step()
        self.optimizers[name].zero_grad()

    def _critic_learns(self, part, clip):
        ppo.value_loss(values_of(self.critic, part), part["values"], part["returns"], part["mask"], clip).backward()
        self._stepped("critic")

    def _actor_learns(self, part, share):
        """Adds the gradient of a part, which is this share of all tokens. Returns the share of ratios that were clipped."""
        loss, cut = ppo.policy_loss(log_probabilities(self.actor, part), part["logs"], part["advantages"], part["mask"],
                                    self.knobs["clip_low"], self.knobs["clip_high"])
        (loss * share).backward()
        return float(cut)

    def update(self, episodes, with_actor):
        """Some passes over the episodes: a step of the critic for each part, one of the actor for all. Returns what a log shows."""
        parts, knobs, clipped = self._parts(episodes), self.knobs, []
        values, returns, mask = (torch.cat([part[key].flatten() for part in parts]) for key in ("values", "returns", "mask"))
        for _ in range(knobs["passes"]):
            for part in parts:
                self._critic_learns(part, knobs["value_clip"] if with_actor else math.inf)    # alone there is no actor that has to keep up
                if with_actor:
                    clipped.append(self._actor_learns(part, part["mask"].sum() / mask.sum()))
            if with_actor:
                self._stepped("actor")
        told = {"reward": sum(one.last for one in episodes) / len(episodes), "explained": ppo.explained(values, returns, mask),
                "right": sum(any(result["ok"] for result in one.results) for one in episodes) / len(episodes),
                "value_loss": float(ppo.value_loss(values, values, returns, mask, knobs["value_clip"]))}
        return dict(told, clipped=sum(clipped) / len(clipped)) if clipped else told

    def run(self, stage, steps, env, tasks, ends, say=print):
        """So many steps of a stage, or until `ends`. Returns whether all were done."""
        while self.step < steps and not (ends and time.monotonic() > ends):
            episodes, spent = self.episodes(env, tasks, say)
            begin = time.monotonic()
            self.log.append(dict(stage=stage, step=self.step, **self.update(episodes, stage == "agentic"), **spent))
            self.log[-1]["learning_s"] = time.monotonic() - begin
            self.step += 1
            print(imitation.line(stage, self.step, steps, {name: self.log[-1][name] for name in ("reward", "right", "explained", "writing_s", "judging_s", "learning_s")}), flush=True)
            if self.step % 5 == 0 or self.step == steps:
                self.save()
        return self.step >= steps
