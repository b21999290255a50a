"""lm_confirm.py: is what is modelled as faster than torch.compile so on a GPU? Texts of held-out tasks, timed beside PyTorch there.

    python bench/learn/lm_confirm.py CORPUS OUT.jsonl --device cuda:0 --places 15 --tasks 60 [--answers DIR/results-STAGE.jsonl] [--seconds N]

CORPUS is a folder of `cawb synth --teach`. The teacher's fastest text of each task is judged; with --answers the model's first right answer, too, where
that is another text. OUT gets a line for each text as it comes; a line that is there is not made again. Places evaluate at once, and one at a time measures.
"""
import argparse
import concurrent.futures
import json
import math
import os
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../python/cawb_learn"))

from lm import corpus, judge, knobs, measure  # noqa: E402

BAR = 1 + knobs.MARGIN            # what counts as faster


def fastest(folder):
    """The teacher's fastest text of each task."""
    best = {}
    for row in corpus.lines(os.path.join(folder, "texts.jsonl")):
        if row["task"] not in best or row["time_s"] < best[row["task"]]["time_s"]:
            best[row["task"]] = row
    return {task: {"text": row["completion"][0]["content"], "modelled": row["compile"], "modelled_s": row["time_s"]} for task, row in best.items()}


def other_answer(row, text):
    """The model's first right answer that is another text, up to names."""
    for answer, result in zip(row["answers"], row["results"], strict=True):
        if result["ok"] and measure.bare(answer) != measure.bare(text):
            return {"text": answer, "modelled": result["compile"], "modelled_s": result["time_s"]}
    return None


def wanted(folder, tasks, answers):
    """What is to be judged: (task, who wrote it, text and modelled times)."""
    best, told = fastest(folder), {row["task"]: row for row in corpus.lines(answers)} if answers else {}
    for task in corpus.held_out(folder, tasks):
        name = task["name"]
        yield name, "teacher", best[name]
        other = other_answer(told[name], best[name]["text"]) if name in told else None
        if other:
            yield name, "model", other


def judged(env, name, who, one):
    """A row: what is modelled of a text, and what is measured."""
    item = env.score_all([{"task": name, "candidate": {"short": one["text"]}}], strict=False)[0]
    row = {"task": name, "by": who, "modelled": one["modelled"], "modelled_s": one["modelled_s"], "ok": bool(item.get("ok")),
           "why": str(item.get("reason") or item.get("error") or "")[:200]}
    if row["ok"]:
        row.update(time_s=item["time_s"]["median"], speedup={kind: {key: s.get(key) for key in ("median", "lo", "hi")} for kind, s in item["speedup"].items()})
    return row


def sentence(row):
    gain = row["speedup"]["compile"]
    return "%5.2fx [%.2f, %.2f]  modelled %.2fx  %-7s %s" % (gain["median"], gain["lo"], gain["hi"], row["modelled"], row["by"], row["task"])


def told(rows):
    """What came of it, in lines: how many texts are 5% faster by the model and by the clock, then each, the fastest over torch.compile first."""
    timed = [row for row in rows if row["ok"] and "compile" in row["speedup"]]
    yield from counts(rows)
    yield from map(sentence, sorted(timed, key=lambda row: -row["speedup"]["compile"]["median"]))


def counts(rows):
    """Of the teacher's texts and of the model's: how many are 5% faster by the model of time, and by the clock."""
    for who in ("teacher", "model"):
        mine = [row for row in rows if row["by"] == who]
        right = [row for row in mine if row["ok"] and "compile" in row["speedup"]]
        if not right:
            continue
        gains = [row["speedup"]["compile"]["median"] for row in right]
        count = {(a, b): sum((row["modelled"] >= BAR, row["speedup"]["compile"]["median"] >= BAR) == (a, b) for row in right)
                 for a in (True, False) for b in (True, False)}
        sure = sum(row["modelled"] >= BAR and (row["speedup"]["compile"]["lo"] or 0) >= BAR for row in right)
        yield "%s: %d texts, %d right and timed; geometric mean over torch.compile %.3f, modelled %.3f" % (
            who, len(mine), len(right), math.exp(sum(map(math.log, gains)) / len(gains)),
            math.exp(sum(math.log(row["modelled"]) for row in right) / len(right)))
        yield "  modelled as 5%% faster: %d, measured so too: %d (by the whole interval: %d); modelled as not: %d, measured so too: %d" % (
            count[True, True] + count[True, False], count[True, True], sure, count[False, True] + count[False, False], count[False, False])


def main(given):
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("corpus")
    words.add_argument("out")
    words.add_argument("--device", default="cuda:0")
    words.add_argument("--places", type=int, default=os.cpu_count() or 1)
    words.add_argument("--tasks", type=int, default=60)
    words.add_argument("--answers")
    words.add_argument("--seconds", type=float, default=600.0, help="it ends after so many (600)")
    args = words.parse_args(given)
    begin, lock = time.monotonic(), threading.Lock()
    there = {(row["task"], row["by"]) for row in corpus.lines(args.out)} if os.path.exists(args.out) else set()
    judge.OPTIONS["deadlines.measure"] = 60

    def one(env, *what):
        row = judged(env, *what)
        row["at_s"] = round(time.monotonic() - begin, 1)
        with lock, open(args.out, "a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
    with judge.serve(args.corpus, args.out + ".judged", args.places, args.device) as env:
        print("serves after %.1f s" % (time.monotonic() - begin), flush=True)
        pool = concurrent.futures.ThreadPoolExecutor(args.places)
        futures = [pool.submit(one, env, *what) for what in wanted(args.corpus, args.tasks, args.answers) if what[:2] not in there]
        left = concurrent.futures.wait(futures, max(0.0, begin + args.seconds - time.monotonic())).not_done
        pool.shutdown(wait=False, cancel_futures=True)
        for future in set(futures) - left:
            if future.exception():
                print(repr(future.exception())[:300], flush=True)
        if left:                                  # what is under way is not waited for
            print("%d texts were not judged in time" % len(left), flush=True)
            env.process.kill()
    print("\n".join(told(corpus.lines(args.out) if os.path.exists(args.out) else [])))
    print("%.1f s" % (time.monotonic() - begin), flush=True)
    if left:
        os._exit(0)                               # threads wait for a server that is gone


if __name__ == "__main__":
    main(sys.argv[1:])
