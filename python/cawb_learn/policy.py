"""policy: a checkpoint as a program of its own. It reads a JSON object a line, {"operators": [...], "decisions": [...], "results": [...]}, and
answers with one: {"program": [a value for each decision]} or {"stop": true}. strategies/policy.lua asks it."""
import json
import sys

import torch

import knobs as table
import lang
import model
import rollout


class Asked:
    """In place of a server's tasks: decisions and verdicts come with each line."""

    def __init__(self, decisions):
        self.all = decisions

    def decisions(self, _):
        return self.all

    def score(self, pairs):
        raise Wanted(pairs[0][1])


class Wanted(Exception):
    """A program that somebody else has to judge."""


def load(path):
    """Knobs and actor of a checkpoint; a knob that it does not know yet is as usual."""
    state = torch.load(path, weights_only=True)
    if state["words"] != list(lang.VOCABULARY):
        raise SystemExit("%s was learnt in another language than this version's (python/cawb_learn/lang.py): train again" % path)
    actor = model.actor(state["knobs"])
    actor.load_state_dict(state["actor"])
    return table.of(**state["knobs"]), actor.eval()


def answer(knobs, actor, asked, generator):
    """The next program for a task with these verdicts so far, or an end."""
    tasks = Asked(asked["decisions"])
    for result in asked["results"]:
        result["limit"] = lang.limit_of(result.get("bound"))
    episode = rollout.begin(knobs, tasks, {"": asked["operators"]}, "")
    for number, (result, program) in enumerate(zip(asked["results"], asked["programs"])):   # as far as it went
        rollout.append(knobs, episode, number, program, result)
    if not rollout.has_room(knobs, episode):
        return {"stop": True, "why": "there is no room for a further program in the policy's %d places" % knobs["length"]}
    try:
        rollout.turn(knobs, tasks, rollout.read_by(actor, [episode]), len(asked["results"]), generator, asked.get("greedy", False))
    except Wanted as wanted:
        return {"program": ["none" if value is None else value for value in wanted.args[0]]}
    return {"stop": True}


def main(path):
    (knobs, actor), generator = load(path), torch.Generator()
    print(json.dumps({"free": knobs["free"], "start": knobs["start"], "turns": knobs["turns"], "parameters": sum(p.numel() for p in actor.parameters())}), flush=True)
    for line in sys.stdin:
        asked = json.loads(line)
        generator.manual_seed(asked.get("seed", 0) * 1009 + len(asked["results"]))
        print(json.dumps(answer(knobs, actor, asked, generator)), flush=True)
