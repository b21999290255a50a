"""ablate: every variant with every seed, or one run, and the searches that they have to beat. Each run is a folder that is gone on with;
what was evaluated is shared by all."""
import concurrent.futures
import json
import multiprocessing
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
    """Servers and their tasks, split into those to learn on and those to be tested on: the same for all that ask the same servers."""

    def __init__(self, args, urls=None):
        with concurrent.futures.ThreadPoolExecutor(args.servers) as pool:
            self.envs = [client.cawb.connect(url, timeout=3600.0) for url in urls] if urls else list(pool.map(
                lambda k: client.serve(args.subject.split(","), os.path.join(args.out, "serve-%d" % k), args.places, args.device, args.options,
                                       args.resident), range(args.servers)))
        self.tasks = client.Tasks(self.envs, os.path.join(args.out, "memo.jsonl"))
        self.operators = {task["key"]: task["name"].split("+") for task in self.envs[0].tasks()}
        usable = [name for name, points in self.tasks.survey(self.operators).items() if args.least < len(points) <= args.decisions]
        if len(usable) <= args.held_out:
            raise SystemExit("%d tasks of the suite can be learnt on: more than --held-out %d are wanted" % (len(usable), args.held_out))
        self.learn, self.test = client.split(usable, args.held_out, report.read(os.path.join(args.out, "setting.json"), {"test": ()})["test"])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.tasks.close()
        for env in self.envs:
            env.close()


def _write(path, value):
    with open(path + ".new", "w", encoding="utf-8") as file:
        json.dump(value, file)
    os.replace(path + ".new", path)


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


HELD = []                                            # the place of a process that works for others


def _begin(args, urls):
    torch.set_num_threads(1)
    HELD.append(Place(args, urls))


def _worked(args, job, ends):
    """Does a job, which is a run, or, without knobs, the searches on a task; or says that there is no time for it."""
    name, seed, knobs = job
    if time.time() > ends:
        return False
    if knobs:
        trained(HELD[0], knobs, os.path.join(args.out, "runs", "%s-%d" % (name.replace(" ", "_"), seed)))
    else:
        searched(HELD[0], name, args.search, args.out)
    return True


def _shared(args, place, jobs, ends):
    """The jobs by several processes, which ask the same servers and read one another's answers; tells of each whether it is done."""
    urls = [env.url for env in place.envs]
    with concurrent.futures.ProcessPoolExecutor(args.jobs, multiprocessing.get_context("spawn"), _begin, (args, urls)) as pool:
        for one in concurrent.futures.as_completed([pool.submit(_worked, args, job, ends) for job in jobs]):
            place.tasks.memo.refresh()
            yield one.result()


def _alone(args, place, jobs, ends):
    HELD.append(place)
    for job in jobs:
        yield _worked(args, job, ends)


def main(args, knobs):
    """Searches, then runs, until the hours are over; then the table."""
    torch.set_num_threads(1)
    ends, left, runs = time.time() + 3600 * args.hours, 0, _runs(args, knobs)
    os.makedirs(args.out, exist_ok=True)
    with Place(args) as place:
        _write(os.path.join(args.out, "setting.json"), {"suite": os.path.basename(args.subject), "learn": place.learn, "test": place.test,
               "device": args.device, "least": args.least, "decisions": args.decisions, "processors": os.cpu_count(),
               "knobs": knobs, "brief": dict(client.BRIEF, **args.options), "search": args.search})
        anchors(place, args.out)
        jobs = [(name, 0, None) for name in place.test] + runs
        for done in (_shared if args.jobs > 1 else _alone)(args, place, jobs, ends):
            left += not done
            anchors(place, args.out)                 # so that a report can be had at any time
    if left:
        print("the hours are over ahead of %d runs and searches; the same command goes on" % left, file=sys.stderr)
    report.main(args.out)


def anchors(place, folder):
    """For each held-out task: what compose's own is worth, the best that is known, and PyTorch's times by way of the speed-ups."""
    best = {}
    for key, result in place.tasks.known.items():
        if isinstance(result, dict) and result.get("ok"):
            best[key[:16]] = min(best.get(key[:16], result["seconds"]), result["seconds"])
    found = {name: dict(place.tasks.default(name), best=best[place.tasks.hashes[name]]) for name in place.test}
    _write(os.path.join(folder, "anchors.json"), found)
