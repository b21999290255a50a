"""ablate: every variant with every seed, or one run, and the searches that they have to beat. Each run is a folder that is gone on with;
what was evaluated is shared by all."""
import contextlib
import json
import os
import sys
import time

import torch

import client
import knobs as table
import report
import search
import stages


class Place:
    """A server and its tasks, split into those to learn on and those to be tested on."""

    def __init__(self, args):
        record = os.path.join(args.out, "serve-" + (args.variants or "all").replace(" ", "_"))       # of a server of one's own
        self.tasks = client.Tasks(client.serve(args.subject.split(","), record, args.places, args.device, args.options, args.resident),
                                  os.path.join(args.out, "memo.jsonl"))
        self.operators = {task["key"]: task["name"].split("+") for task in self.tasks.env.tasks()}
        usable = [name for name, decisions in self.tasks.survey(self.operators).items() if args.least < len(decisions) <= args.decisions]
        if len(usable) <= args.held_out:
            raise SystemExit("%d tasks of the suite can be learnt on: more than --held-out %d are wanted" % (len(usable), args.held_out))
        self.learn, self.test = client.split(usable, args.held_out, report.read(os.path.join(args.out, "setting.json"), {"test": ()})["test"])


def _write(path, value):
    new = "%s.%d" % (path, os.getpid())
    with open(new, "w", encoding="utf-8") as file:
        json.dump(value, file)
    os.replace(new, path)


def trained(place, knobs, folder, evaluations=8):
    """A run from where it was left, to its end; and its curves on the held-out tasks, kept in its folder."""
    path, began, before = os.path.join(folder, "test.json"), time.time(), place.tasks.evaluated
    if not os.path.exists(path):
        actor = stages.Trainer(knobs, place.tasks, place.learn, place.operators, folder).run().actor
        _write(path, {name: stages.curve(knobs, actor, place.tasks, place.operators, name, evaluations, knobs["seed"]) for name in place.test})
        print("%s: done, %.0f s, %d programs evaluated" % (folder, time.time() - began, place.tasks.evaluated - before), file=sys.stderr, flush=True)


def searched(place, name, evaluations, folder):
    """The searches on a held-out task, kept in a file of their own."""
    path = os.path.join(folder, "searches", "%s.json" % place.tasks.hashes[name])
    if not os.path.exists(path):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        _write(path, {"task": name, "default": place.tasks.default(name), "evolution": search.evolution(place.tasks, name, evaluations),
                      "random edits": search.climbed(place.tasks, name, evaluations)})


def _runs(args, knobs):
    """(variant, seed, knobs) of every run, seed by seed, so that an early end leaves whole seeds."""
    names = [name.strip() for name in args.variants.split(",")] if args.variants else list(table.VARIANTS)
    for name in names:
        if name not in table.VARIANTS:
            raise SystemExit("there is no variant '%s'; there are %s" % (name, ", ".join(table.VARIANTS)))
    return [(name, seed, variant(knobs, name, seed)) for seed in range(args.seeds) for name in names]


def variant(knobs, name, seed):
    """Its knobs. One without an agent loop has as many more episodes a step as the others have turns: equal evaluations at most."""
    own = dict(knobs, **table.VARIANTS[name], seed=knobs["seed"] + seed)
    return dict(own, batch=own["batch"] * (knobs["turns"] - 1)) if own["turns"] == 1 else own


def main(args, knobs):
    """Searches, then runs, then the table."""
    torch.set_num_threads(1)
    runs = _runs(args, knobs)
    os.makedirs(args.out, exist_ok=True)
    place = Place(args)
    with contextlib.closing(place.tasks):
        _write(os.path.join(args.out, "setting.json"), {"suite": os.path.basename(args.subject), "learn": place.learn, "test": place.test,
               "device": args.device, "least": args.least, "decisions": args.decisions, "processors": os.cpu_count(),
               "knobs": knobs, "brief": dict(client.BRIEF, **args.options), "search": args.search})
        for name in place.test:
            searched(place, name, args.search, args.out)
        for name, seed, own in runs:
            trained(place, own, os.path.join(args.out, "runs", "%s-%d" % (name.replace(" ", "_"), seed)))
            anchors(place, args.out)                 # so that a report can be had at any time
    report.main(args.out)


def anchors(place, folder):
    """For each held-out task: what compose's own is worth, the best that is known, and PyTorch's times by way of the speed-ups."""
    best = {}
    for key, result in place.tasks.known.items():
        if isinstance(result, dict) and result.get("ok"):
            best[key[:16]] = min(best.get(key[:16], result["seconds"]), result["seconds"])
    found = {name: dict(place.tasks.default(name), best=best[place.tasks.hashes[name]]) for name in place.test}
    _write(os.path.join(folder, "anchors.json"), found)
