"""picks.py SUITE DIR: what the policies of an ablation chose for the held-out tasks, timed on a device beside what the simulator made of
it. `cawb-train ablate` fills DIR. A pick is the fastest program of a policy's first --at evaluations; those of the same time are one
program. compose's own schedule is timed, too. What passes is confirmed: it is evaluated again in a fresh worker, and counts as what it
is then. PyTorch stands beside it in eager mode alone, for torch.compile takes seconds a task. A GPU shrinks no task: --sized is the
same suite with the sizes that were learnt on, as bench/learn/policy/sizes.lua writes it. What was timed is kept in --out: the command goes on
where it was left. Prints tables by variant and by task.

    cawb bench/learn/policy/sizes.lua ops/tasks.jsonl sized.jsonl
    CAWB_PROGRAM=build/release/bin/cawb python bench/learn/picks.py ops/tasks.jsonl table --sized sized.jsonl --device cuda:0
"""
import argparse
import concurrent.futures
import json
import math
import os
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(ROOT, "python/cawb_learn")]

import client  # noqa: E402
import report  # noqa: E402

MEASURED = {"measure.against": "eager", "measure.matrix": "", "verify.battery": "mixed", "confirm.enabled": False}


def picks_of(folder, at):
    """{(variant, seed, task): modelled seconds}, None where nothing was right by then."""
    return {(name, seed, task): curve[at - 1] for name, runs in report.runs_of(folder).items() for seed, run in runs.items()
            for task, curve in run["test"].items()}


def schedules(known, hashes):
    """{(task, seconds): a schedule that takes so long, by the simulator}; compose's own is {}. The first one in the order of its text."""
    tasks, found = {short: task for task, short in hashes.items()}, {}
    for key in sorted(known):
        value, task = known[key], tasks.get(key[:16])
        if task and isinstance(value, dict) and value.get("ok"):
            found.setdefault((task, value["seconds"]), json.loads(key[16:]))
    return found


def hashes_of(suite, out):
    """What the ablation's answers are kept under, by task."""
    with client.serve(suite, out, 1) as env:
        return {task["key"]: task["hash"][:16] for task in env.tasks()}


def timed(tasks, wanted, ends, at_once=1):
    """{(task, text of a schedule): answer}, of those for which there is time; so many tasks at once, of which the judge times one. compose's own
    comes first, for it stands beside all others."""
    def one(task, told):
        key = tasks.hashes[task] + json.dumps(told, sort_keys=True)
        while key not in tasks.known and time.monotonic() < ends:
            try:
                tasks.memo.keep(key, client._short(tasks.server[task].score(task, schedule=told, confirm=True)))
            except client.cawb.Failed as error:                 # the machine's fault: asked again
                print("%s: %s" % (task, error), file=sys.stderr, flush=True)
                time.sleep(1)
        return (task, json.dumps(told, sort_keys=True)), tasks.known.get(key)

    with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
        own_first = sorted(wanted, key=lambda pair: pair[1] != {})
        rows = pool.map(lambda task: [one(*pair) for pair in own_first if pair[0] == task], sorted({task for task, _ in wanted}))
        return {key: answer for row in rows for key, answer in row if answer is not None}


def ranks(values):
    order = sorted(range(len(values)), key=values.__getitem__)
    found = [0.0] * len(values)
    at = 0
    while at < len(order):
        end = at
        while end + 1 < len(order) and values[order[end + 1]] == values[order[at]]:
            end += 1
        for k in order[at:end + 1]:
            found[k] = (at + end) / 2
        at = end + 1
    return found


def correlation(xs, ys):
    """Spearman's, or None where one does not vary."""
    a, b = ranks(xs), ranks(ys)
    n, (ma, mb) = len(a), (sum(a) / len(a), sum(b) / len(b))
    spread = math.sqrt(sum((x - ma) ** 2 for x in a) * sum((y - mb) ** 2 for y in b))
    return sum((x - ma) * (y - mb) for x, y in zip(a, b)) / spread if n > 2 and spread else None


def geomean(values):
    values = list(values)
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None


def said(value, form="%.2fx"):
    return form % value if value is not None else "-"


def row(name, own, members):
    """Of picks (task, modelled, answer): how many are right here, and the gain over compose's own, modelled and measured."""
    right = [(task, seconds, answer) for task, seconds, answer in members if answer["ok"] and own[task][1]["ok"]]
    return "| %s | %d of %d | %s | %s |" % (name, len(right), len(members),
                                           said(geomean(own[task][0] / seconds for task, seconds, _ in right)),
                                           said(geomean(own[task][1]["seconds"] / answer["seconds"] for task, _, answer in right)))


def by_task(programs, own):
    """compose's own and the program that the model puts first, each modelled and measured, and how the two times go together in a task."""
    lines = ["| task | programs, right here | compose's own, us, modelled, measured | the one modelled fastest | rank correlation |", "|---|---|---|---|---|"]
    for task in sorted(own):
        all_of = [pair for (name, _), pair in programs.items() if name == task]
        right = sorted((seconds, answer["seconds"]) for seconds, answer in all_of if answer["ok"])
        cells = ["%.2f, %.2f" % (1e6 * a, 1e6 * b) for a, b in ([(own[task][0], own[task][1]["seconds"])] if own[task][1]["ok"] else []) + right[:1]]
        lines.append("| %s | %d, %d | %s | %s |" % (task, len(all_of), len(right), " | ".join((cells + ["-", "-"])[:2]),
                                                  said(correlation(*zip(*right)) if right else None, "%.2f")))
    return lines


def shown(picks, found, known, own):
    """The table by variant, then how the two times of all programs go together."""
    by_variant, programs = {}, {(task, "{}"): pair for task, pair in own.items()}
    for (name, seed, task), seconds in picks.items():
        told = json.dumps(known[task, seconds], sort_keys=True) if seconds else None
        if told is None or (task, told) in found:
            by_variant.setdefault(name, []).append((task, seconds, found[task, told] if told else {"ok": False}))
        if (task, told) in found:
            programs[task, told] = seconds, found[task, told]
    lines = ["| variant | picks that are right here | over compose's own, modelled | measured |", "|---|---|---|---|"]
    lines += [row(name, own, members) for name, members in sorted(by_variant.items())]
    both = [(seconds, answer["seconds"]) for seconds, answer in programs.values() if answer["ok"]]
    lines += [""] + by_task(programs, own)
    if len(both) > 2:
        off = sorted(abs(modelled / measured - 1) for modelled, measured in both)
        lines += ["", "%d different programs, compose's own among them: rank correlation of modelled and measured times %s, median error %.0f%%."
                  % (len(both), said(correlation(*zip(*both)), "%.2f"), 100 * off[len(off) // 2])]
    return lines


def main():
    words = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    words.add_argument("suite")
    words.add_argument("folder")
    words.add_argument("--sized", help="the suite with the sizes that were learnt on; without it the suite as it is")
    words.add_argument("--memo", help="what the ablation evaluated; without it DIR/memo.jsonl and its neighbours")
    words.add_argument("--device", default="cuda:0")
    words.add_argument("--at", type=int, default=8)
    words.add_argument("--seconds", type=float, default=3600)
    words.add_argument("--places", type=int, default=1, help="tasks that are loaded and built for at once")
    words.add_argument("--out", default="cawb-picks")
    args = words.parse_args()
    ends, picks = time.monotonic() + args.seconds, picks_of(args.folder, args.at)
    brief = report.read(os.path.join(args.folder, "setting.json"))["brief"]
    hashes = hashes_of(args.suite, os.path.join(args.out, "names"))
    with client.serve(args.sized or args.suite, os.path.join(args.out, "serve"), args.places, args.device, dict(brief, **MEASURED), resident=2) as env:
        tasks = client.Tasks(env, os.path.join(args.out, "timed.jsonl"))
        known = schedules(client.Memo(args.memo or os.path.join(args.folder, "memo.jsonl"), "-picks").known, hashes)
        modelled = {task: own["seconds"] for task, own in report.read(os.path.join(args.folder, "anchors.json")).items()}
        chosen = {(task, json.dumps(known[task, seconds], sort_keys=True)) for (_, _, task), seconds in picks.items() if seconds}
        wanted = [(task, json.loads(told)) for task, told in sorted(chosen | {(task, "{}") for task in modelled})]
        found = timed(tasks, wanted, ends, args.places)
        tasks.close()
    own = {task: (seconds, found[task, "{}"]) for task, seconds in modelled.items() if (task, "{}") in found}
    print("%s; %d of %d programs were timed, of %d picks (a variant, a seed, a held-out task; the best of %d evaluations).\n"
          % (args.device, len(found), len(wanted), len(picks), args.at))
    print("\n".join(shown({key: s for key, s in picks.items() if key[2] in own}, found, known, own)))


if __name__ == "__main__":
    main()
