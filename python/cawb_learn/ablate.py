"""ablate: every variant with every seed, and the searches that they have to beat. Each run is a folder that is gone on with; what was
evaluated is shared by all."""
import concurrent.futures
import json
import multiprocessing
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


class Place:
    """Servers and their tasks, split into those to learn on and those to be tested on: the same for all that ask the same servers."""

    def __init__(self, args, knobs, urls=None, own=""):
        with concurrent.futures.ThreadPoolExecutor(args.servers) as pool:
            self.envs = [client.cawb.connect(url, timeout=3600.0) for url in urls] if urls else list(pool.map(
                lambda k: client.serve(args.subject.split(","), os.path.join(args.out, "serve-%d" % k), args.places, args.device, args.options,
                                       args.resident), range(args.servers)))
        self.tasks = client.Tasks(self.envs, args.memo or os.path.join(args.out, "memo.jsonl"), knobs["free"], own)
        self.operators = {task["key"]: task["name"].split("+") for task in self.envs[0].tasks()}
        wanted = [task["key"] for task in self.envs[0].tasks() if not re.search(args.without, task["name"])]
        usable = self._usable(wanted, args)
        if len(usable) <= args.held_out:
            raise SystemExit("%d tasks of the suite can be learnt on: more than --held-out %d are wanted" % (len(usable), args.held_out))
        self.learn, self.test = client.split(usable, args.held_out, report.read(os.path.join(args.out, "setting.json"), {"test": ()})["test"])

    def _usable(self, wanted, args):
        """The first so many with as many decisions as asked for."""
        usable, step = [], 1 if len(self.envs) == 1 else 4 * len(self.envs)
        for k in range(0, len(wanted), step):
            found = self.tasks.survey(wanted[k:k + step])
            usable += [name for name, decisions in found.items() if args.least < len(decisions) <= args.decisions]
            if args.tasks and len(usable) >= args.tasks:
                break
        return usable[:args.tasks or None]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.tasks.close()
        for env in self.envs:
            env.close()


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
        _write(path, {name: stages.curve(trainer.knobs, trainer.actor, place.tasks, place.operators, name, evaluations,
                                         trainer.knobs["seed"]) for name in place.test})
    return path


def one(args, knobs):
    """`run`: all stages of one run, and its curves on the held-out tasks."""
    torch.set_num_threads(1)
    with Place(args, knobs) as place:
        trainer = trained(place, knobs, args.out)
        tested(place, trainer, 8, args.out)
        for name in place.test:
            searched(place, name, args.search, 0, args.out)
    print("%d tasks learnt on, %d held out; %s" % (len(place.learn), len(place.test), os.path.join(args.out, "log.jsonl")))


def searched(place, name, evaluations, seed, folder):
    """The searches on a held-out task, kept in a file of their own."""
    path = os.path.join(folder, "searches", "%s-%d.json" % (place.tasks.hashes[name], seed))
    if not os.path.exists(path):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        _write(path, {"task": name, "seed": seed, "random": search.drawn(place.tasks, name, evaluations, seed),
                      "evolution": search.evolution(place.tasks, name, evaluations, seed), "default": place.tasks.default(name),
                      "random edits": search.climbed(place.tasks, name, evaluations, seed),
                      "evolution from default": search.evolution(place.tasks, name, evaluations, seed, start=lang.default(place.tasks.decisions(name)))})


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
    return dict(own, batch=own["batch"] * (knobs["turns"] - own["start"])) if own["turns"] == 1 else own


def _jobs(args, runs, place):
    """What is to be done, in its order: searches, then runs."""
    return [("search", name, seed, None) for seed in range(args.search_seeds) for name in place.test] + [("run", *one) for one in runs]


def _do(place, args, kind, name, seed, own):
    if kind == "search":
        return searched(place, name, args.search, seed, args.out)
    folder = os.path.join(args.out, "runs", "%s-%d" % (name.replace(" ", "_"), seed))
    began, before = time.time(), place.tasks.evaluated
    if not os.path.exists(os.path.join(folder, "test.json")):
        tested(place, trained(place, own, folder), 8, folder)
        print("%s, seed %d: done, %.0f s, %d programs evaluated" % (name, seed, time.time() - began, place.tasks.evaluated - before),
              file=sys.stderr, flush=True)
    return None


HELD = []                                            # the place of a process that works for others


def _begin(args, knobs, urls):
    torch.set_num_threads(1)
    HELD.append(Place(args, knobs, urls, "-%d" % os.getpid()))


def _worked(args, job, ends):
    return _do(HELD[0], args, *job) if time.time() < ends else None


def _shared(args, knobs, place, jobs, ends):
    """The jobs by several processes, which ask the same servers and read one another's answers."""
    urls = [env.url for env in place.envs]
    with concurrent.futures.ProcessPoolExecutor(args.jobs, multiprocessing.get_context("spawn"), _begin, (args, knobs, urls)) as pool:
        waiting = {pool.submit(_worked, args, job, ends) for job in jobs}
        while waiting:
            done, waiting = concurrent.futures.wait(waiting, 10, concurrent.futures.FIRST_COMPLETED)
            for one in done:
                one.result()
            place.tasks.memo.refresh()
            anchors(place, args.out)                 # so that a report can be had at any time


def main(args, knobs):
    """`ablate`: searches, then runs, until the hours are over; then the table."""
    torch.set_num_threads(1)
    ends, runs = time.time() + 3600 * args.hours, _runs(args, knobs)
    os.makedirs(args.out, exist_ok=True)
    with Place(args, knobs) as place:
        _write(os.path.join(args.out, "setting.json"), {"suite": os.path.basename(args.subject), "learn": place.learn, "test": place.test,
               "device": args.device, "least": args.least, "decisions": args.decisions, "without": args.without, "processors": os.cpu_count(),
               "knobs": knobs, "brief": dict(client.BRIEF, **args.options), "search": args.search})
        anchors(place, args.out)
        jobs = _jobs(args, runs, place)
        if args.jobs > 1:
            _shared(args, knobs, place, jobs, ends)
        for job in jobs if args.jobs == 1 else ():
            if time.time() > ends:
                print("the hours are over ahead of '%s', seed %d; the same command goes on" % job[1:3], file=sys.stderr)
                break
            _do(place, args, *job)
            anchors(place, args.out)
    report.main(args.out)


def anchors(place, folder):
    """For each held-out task: what compose's own is worth, the best that is known, and PyTorch's times by way of the speed-ups."""
    best = {}
    for key, result in place.tasks.known.items():
        if isinstance(result, dict) and result.get("ok"):
            best[key[:16]] = min(best.get(key[:16], result["seconds"]), result["seconds"])
    found = {name: dict(place.tasks.default(name), best=best[place.tasks.hashes[name]]) for name in place.test}
    _write(os.path.join(folder, "anchors.json"), found)
