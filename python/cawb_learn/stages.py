"""stages: the staged procedure. 0 stands for the model that the paper starts from; 1 single-turn PPO; 2 rejection fine-tuning; 3 the
critic ahead of its use; 4 PPO over many turns. Whatever is drawn in a step follows from seed, stage and step alone, so that a run that
was killed goes on with the numbers that it would have had."""
import json
import os
import random
import sys

import torch

import lang
import model
import ppo
import rollout

STAGES = ("prior", "single", "rft", "value", "agentic")


def generator_of(seed, stage, step):
    """Draws of one step."""
    return torch.Generator().manual_seed((seed * 1000003 + STAGES.index(stage) * 10007 + step) % (1 << 31))


class Trainer:
    """A run in a folder: `tasks` scores programs, `names` are the tasks to learn on, `operators` theirs by name."""

    def __init__(self, knobs, tasks, names, operators, folder):
        self.knobs, self.tasks, self.operators, self.folder = knobs, tasks, operators, folder
        self.names = [name for name in names if tasks.decisions(name)]
        torch.manual_seed(knobs["seed"])
        self.actor, self.critic = model.actor(knobs), model.critic(knobs)
        self._begin(STAGES[0])
        os.makedirs(folder, exist_ok=True)
        self.path, self.log_path = os.path.join(folder, "checkpoint.pt"), os.path.join(folder, "log.jsonl")
        if os.path.exists(self.path):
            self._load()
        else:
            open(self.log_path, "w").close()

    def _begin(self, stage):
        """A stage's first step is the next one."""
        self.place, self.carried = {"stage": stage, "step": 0}, None
        rate = self.knobs.get(stage + "_rate", self.knobs["rate"])
        self.optimizers = {"actor": torch.optim.Adam(self.actor.parameters(), lr=rate),
                           "critic": torch.optim.Adam(self.critic.parameters(), lr=rate * self.knobs["critic_factor"])}

    def save(self, path=None):
        """Everything that the next step needs, written whole or not at all."""
        state = {"knobs": self.knobs, "place": self.place, "carried": self.carried, "log": os.path.getsize(self.log_path),
                 "actor": self.actor.state_dict(), "critic": self.critic.state_dict(),
                 "optimizers": {name: one.state_dict() for name, one in self.optimizers.items()}}
        path = path or self.path
        torch.save(state, path + ".new")
        os.replace(path + ".new", path)

    def _load(self):
        state = torch.load(self.path, weights_only=True)
        changed = sorted(name for name in self.knobs if state["knobs"].get(name) != self.knobs[name])
        if changed:
            raise SystemExit("%s was begun with other knobs (%s): take another folder" % (self.folder, ", ".join(changed)))
        self.actor.load_state_dict(state["actor"])
        self.critic.load_state_dict(state["critic"])
        for name, one in self.optimizers.items():
            one.load_state_dict(state["optimizers"][name])
        self.place, self.carried = state["place"], state["carried"]
        os.truncate(self.log_path, state["log"])                # steps after the checkpoint are done again

    def log(self, stage, step, told):
        with open(self.log_path, "a", encoding="utf-8") as file:
            file.write(json.dumps(dict(stage=stage, step=step, asked=self.tasks.asked, **told)) + "\n")

    def _stage(self, stage, prepare, one):
        """Its steps from where it was left; `prepare` makes what is carried from step to step."""
        if STAGES.index(self.place["stage"]) > STAGES.index(stage):
            return
        steps = self.knobs[stage + "_steps"]
        if steps and prepare and self.place["step"] == 0 and self.carried is None:
            self.carried = prepare()
            self.save()
        for step in range(self.place["step"], steps):
            told = one(step)
            self.log(stage, step, told)
            self.place = {"stage": stage, "step": step + 1}
            if (step + 1) % self.knobs["every"] == 0:
                self.save()
        print("stage %s: %d steps" % (stage, steps), file=sys.stderr, flush=True)
        if stage == "rft":                                      # the critic of stage 4 begins anew: stage 3 is all that it has learnt
            torch.manual_seed(self.knobs["seed"] + 1)
            self.critic = model.critic(self.knobs)
        self._begin((*STAGES, "done")[STAGES.index(stage) + 1])
        self.save()
        self.save(os.path.join(self.folder, "stage-%s.pt" % stage))

    def _names(self, stage, step, count):
        """Tasks of a step: each `samples` times, drawn evenly over classes, of which the makers of kernels are the name."""
        rng = random.Random("%d %s %d" % (self.knobs["seed"], stage, step))
        classes = {}
        for name in self.names:
            makers = sorted({decision["by"] for decision in self.tasks.decisions(name) if decision["kind"] == "knob"})
            classes.setdefault(" ".join(makers), []).append(name)
        picked, order = [], sorted(classes)
        while len(picked) < count:
            picked += [rng.choice(classes[rng.choice(order)])] * self.knobs["samples"]
        return picked[:count]

    def episodes(self, stage, step, count, turns):
        return rollout.episodes_of(self.knobs, self.actor, self.tasks, self.operators, self._names(stage, step, count), turns,
                                   generator_of(self.knobs["seed"], stage, step))

    def _likelihood(self, episodes):
        """One step up the likelihood of what the episodes' policy chose."""
        batch = ppo.batch_of([dict(e, rewards=[]) for e in episodes])
        logs, _ = ppo.log_probabilities(self.actor, batch["tokens"])
        loss = -ppo.mean(logs, batch["mask"])
        ppo.step(self.optimizers["actor"], loss, self.actor, self.knobs["gradient"])
        return {"loss": float(loss.detach())}

    def _picked(self, stage, step, episodes):
        rng = random.Random("%d %s %d" % (self.knobs["seed"], stage, step))
        return [rng.choice(episodes) for _ in range(self.knobs["batch"])]

    # ---- the stages

    def _written(self):
        """For each task some of the better ones of random programs, worse ones first, as if an agent had found them."""
        rngs = {name: random.Random("prior %s" % name) for name in self.names}             # drawn once for all seeds and variants
        drawn = [(name, lang.edited(self.tasks.decisions(name), rngs[name], 2)) for name in self.names for _ in range(self.knobs["prior_programs"])]
        found, wanted = {}, []
        for (name, program), result in zip(drawn, self.tasks.score(drawn)):
            if result["ok"]:
                found.setdefault(name, []).append((-rollout.reward_of("log", result), program))
        for name, programs in found.items():
            best = [program for _, program in sorted(programs, key=lambda one: one[0])][:self.knobs["prior_best"]]
            for _ in range(self.knobs["prior_episodes"]):
                picked = sorted(rngs[name].sample(range(len(best)), 1 + rngs[name].randrange(min(self.knobs["turns"], len(best)))), reverse=True)
                wanted.append((name, [best[k] for k in picked]))
        wanted = wanted or [(self.names[0], [lang.default(self.tasks.decisions(self.names[0]))])]
        return [slim(e) for e in rollout.written(self.knobs, self.tasks, self.operators, wanted)]

    def prior(self):
        """Stage 0."""
        self._stage("prior", self._written, lambda step: self._likelihood(self._picked("prior", step, self.carried)))

    def _policy(self, stage, turns, weight):
        def one(step):
            episodes = self.episodes(stage, step, self.knobs["batch"], turns)
            paid = weight if (self.carried or 0.0) < self.knobs["entropy_target"] else 0.0         # by the entropy of the step before
            told = ppo.update(self.knobs, episodes, self.actor, self.critic, self.optimizers, paid)
            self.carried = told["entropy"]
            return dict(told, **summary(episodes))
        self._stage(stage, None, one)

    def single(self):
        """Stage 1."""
        self._policy("single", 1, self.knobs["entropy_weight"])

    def _trajectories(self, stage, count):
        episodes, step = [], 0
        while len(episodes) < count and step < 4 * count:
            episodes += self.episodes(stage, 100000 + step, min(self.knobs["batch"], count - len(episodes)), self.knobs["turns"])
            step += 1
        return episodes

    def _kept(self):
        """Trajectories to learn from: of each the turns that are better than all before."""
        episodes = self._trajectories("rft", self.knobs["rft_trajectories"])
        for e in episodes:
            turns = [range(begin + 1, end + 1) for better, begin, end in zip(e["better"], [-1] + [end or -1 for end in e["ends"]], e["ends"]) if better and end]
            e["mask"] = [chosen if any(k in turn for turn in turns) else 0 for k, chosen in enumerate(e["mask"])]
        kept = [e for e in episodes if any(e["mask"])]
        self.log("rft", -1, {"trajectories": len(episodes), "kept": len(kept)})
        return [slim(e) for e in kept]

    def rft(self):
        """Stage 2. Where nothing is worth keeping, nothing is learnt."""
        self._stage("rft", self._kept, lambda step: self._likelihood(self._picked("rft", step, self.carried)) if self.carried else {"loss": None})

    def value(self):
        """Stage 3: the critic alone, on targets that GAE makes of its own values."""
        def one(step):
            batch = ppo.batch_of(self._picked("value", step, self.carried))
            _, returns, values = ppo.advantages_of(self.knobs, batch, self.critic)
            loss = ppo.critic_update(self.knobs, batch, self.critic, self.optimizers["critic"], returns, values)
            return {"value_loss": loss, "explained": ppo.explained(values, returns, batch["mask"])}
        self._stage("value", lambda: [slim(e) for e in self._trajectories("value", self.knobs["value_trajectories"])], one)

    def agentic(self):
        """Stage 4. No entropy is paid for here: it makes turns that lead nowhere."""
        self._policy("agentic", self.knobs["turns"], 0.0)

    def run(self):
        """All stages, from where the folder's checkpoint is."""
        for stage in STAGES:
            if self.place["stage"] != "done":
                getattr(self, stage)()
        return self


def slim(episode):
    """What learning needs of an episode, and a checkpoint can hold."""
    return {name: episode[name] for name in ("task", "tokens", "mask", "logs", "rewards") if name in episode}


def summary(episodes):
    """What a log shows of episodes, means of them."""
    turns = [result for e in episodes for result in e["results"]]
    told = {"reward": [e["best"] for e in episodes], "paid": [sum(e["rewards"]) for e in episodes], "length": [len(e["tokens"]) for e in episodes],
            "cut": [e["cut"] for e in episodes], "unreadable": [result["stage"] == "reply" for result in turns]}
    return {name: sum(values) / len(values) for name, values in told.items()}


def curve(knobs, actor, tasks, operators, name, evaluations, seed=0):
    """The best seconds on one task after each evaluation. Episodes follow one another."""
    best, found, number = None, [], 0
    while len(found) < evaluations and number < 4 * evaluations:
        generator = torch.Generator().manual_seed((seed * 7919 + number) % (1 << 31))
        for episode in rollout.episodes_of(knobs, actor, tasks, operators, [name], knobs["turns"], generator):
            for result in episode["results"][number > 0:]:          # compose's own is evaluated once
                best = min(best or result["seconds"], result["seconds"]) if result["ok"] else best
                found.append(best)
        number += 1
    return (found + [best] * evaluations)[:evaluations]
