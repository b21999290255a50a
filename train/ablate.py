"""ablate: every variant with every seed, and the searches that they have to beat. Each run is a folder that is gone on with; what was
evaluated is shared by all."""
import itertools
import json
import os
import random
import re
import sys
import time

import torch

import client
import knobs as table
import lang
import report
import search
import stages

AT = (1, 4, 8, 16, 64)


def operators_of(env):
    """Names of operators by task: those of its name."""
    return {task["key"]: task["name"].split("+") for task in env.tasks()}


class Place:
    """The server and its tasks, split into those to learn on and those to be tested on."""

    def __init__(self, args, knobs):
        self.env = client.serve(args.subject.split(","), os.path.join(args.out, "serve"), args.places, args.device)
        self.tasks = client.Tasks(self.env, args.memo or os.path.join(args.out, "memo.jsonl"), knobs["free"])
        self.operators = operators_of(self.env)
        wanted = [task["key"] for task in self.env.tasks() if not re.search(args.without, task["name"])]
        few = (name for name in wanted if 0 < len(self.tasks.points(name)) <= args.decisions)
        usable = list(itertools.islice(few, args.tasks or None))
        if len(usable) <= args.held_out:
            raise SystemExit("%d tasks of the suite can be learnt on: more than --held-out %d are wanted" % (len(usable), args.held_out))
        self.learn, self.test = client.split(usable, args.held_out)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.tasks.close()
        self.env.close()


def trained(place, knobs, folder):
    """A run from where it was left, to its end."""
    return stages.Trainer(knobs, place.tasks, place.learn, place.operators, folder).run()


def _write(path, value):
    with open(path + ".new", "w", encoding="utf-8") as file:
        json.dump(value, file)
    os.replace(path + ".new", path)


def tested(place, trainer, evaluations, folder):
    """Curves of a trained policy on the held-out tasks, kept in its folder."""
    path = os.path.join(folder, "test.json")
    if not os.path.exists(path):
        found = {}
        for name in place.test:
            found[name] = stages.curve(trainer.knobs, trainer.actor, place.tasks, place.operators, name, evaluations, trainer.knobs["seed"])
        _write(path, found)
    return path


def one(args, knobs):
    """`run`: all stages of one run, and its curves on the held-out tasks."""
    torch.set_num_threads(1)
    with Place(args, knobs) as place:
        trainer = trained(place, knobs, args.out)
        tested(place, trainer, 8, args.out)
        baselines(place, args.out, args.search, 1)
    print("%d tasks learnt on, %d held out; %s" % (len(place.learn), len(place.test), os.path.join(args.out, "log.jsonl")))


def baselines(place, folder, evaluations, seeds):
    """The searches on the held-out tasks."""
    path = os.path.join(folder, "searches.json")
    known = json.load(open(path, encoding="utf-8")) if os.path.exists(path) else {}
    for seed in range(seeds):
        for name in place.test:
            key = "%s %d" % (name, seed)
            if key not in known:
                known[key] = {"random": search.drawn(place.tasks, name, evaluations, seed),
                              "evolution": search.evolution(place.tasks, name, evaluations, seed),
                              "evolution from default": search.evolution(place.tasks, name, evaluations, seed,
                                                                         start=lang.default(place.tasks.points(name))),
                              "default": place.tasks.default(name)}
                _write(path, known)
    return known


def _runs(args, knobs):
    """(variant, seed, knobs) of every run, seed by seed, so that an early end leaves whole seeds."""
    names = [name.strip() for name in args.variants.split(",")] if args.variants else list(table.VARIANTS)
    for name in names:
        if name not in table.VARIANTS:
            raise SystemExit("there is no variant '%s'; there are %s" % (name, ", ".join(table.VARIANTS)))
    return [(name, seed, variant(knobs, name, seed)) for seed in range(args.seeds) for name in names]


def variant(knobs, name, seed):
    """Its knobs. One without an agent loop has as many more episodes a step as the others have turns: equal evaluations at most."""
    own = dict(knobs, **table.VARIANTS[name], seed=seed)
    return dict(own, batch=own["batch"] * knobs["turns"]) if own["turns"] == 1 else own


def main(args, knobs):
    """`ablate`: searches, then runs, until the hours are over; then the table."""
    torch.set_num_threads(1)
    ends = time.monotonic() + 3600 * args.hours
    os.makedirs(args.out, exist_ok=True)
    with Place(args, knobs) as place:
        _write(os.path.join(args.out, "setting.json"), {"suite": os.path.basename(args.subject), "learn": place.learn, "test": place.test,
               "device": args.device, "decisions": args.decisions, "without": args.without, "processors": os.cpu_count(), "knobs": knobs, "brief": client.BRIEF})
        baselines(place, args.out, args.search, 1)
        anchors(place, args.out)                     # so that a report can be had at any time
        for name, seed, own in _runs(args, knobs):
            if time.monotonic() > ends:
                print("the hours are over ahead of '%s', seed %d; the same command goes on" % (name, seed), file=sys.stderr)
                break
            folder = os.path.join(args.out, "runs", "%s-%d" % (name.replace(" ", "_").replace(",", ""), seed))
            trainer = trained(place, own, folder)
            tested(place, trainer, 16, folder)
            anchors(place, args.out)
            print("%s, seed %d: done" % (name, seed), file=sys.stderr, flush=True)
    report.main(args.out)


def anchors(place, folder):
    """For each held-out task: what compose's own is worth, the best that is known, and PyTorch's times by way of the speed-ups."""
    best = {}
    for key, result in place.tasks.known.items():
        if isinstance(result, dict) and result.get("ok"):
            best[key[:16]] = min(best.get(key[:16], result["seconds"]), result["seconds"])
    found = {name: dict(place.tasks.default(name), best=best[place.tasks.hashes[name]]) for name in place.test}
    _write(os.path.join(folder, "anchors.json"), found)


def bootstrap(pairs, resamples=10000, seed=1):
    """The mean of differences by (task, seed), and its 95% interval: tasks are drawn anew, with all their seeds, and of each its seeds."""
    rng, by_task = random.Random(seed), {}
    for (task, _), difference in pairs.items():
        by_task.setdefault(task, []).append(difference)
    rows, means = list(by_task.values()), []
    for _ in range(resamples):
        drawn = [rng.choice(row) for row in (rng.choice(rows) for _ in rows) for _ in row]
        means.append(sum(drawn) / len(drawn))
    means.sort()
    everything = [difference for row in rows for difference in row]
    below, above = (sum(m <= 0 for m in means), sum(m >= 0 for m in means))
    p = min(1.0, 2 * max(1, min(below, above)) / resamples)
    return sum(everything) / len(everything), means[int(0.025 * resamples)], means[int(0.975 * resamples) - 1], p


def holm(values):
    """Holm's step-down adjustment of p-values, by name."""
    order, adjusted, most = sorted(values, key=values.get), {}, 0.0
    for k, name in enumerate(order):
        most = max(most, min(1.0, (len(order) - k) * values[name]))
        adjusted[name] = most
    return adjusted
