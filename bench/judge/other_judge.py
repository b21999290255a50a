"""python other_judge.py CORPUS.jsonl [--classes ABCDEF] [--only PATTERN] [--tier 2] [--timeout S] -- COMMAND...: how many known cheats
another judge catches, and how many honest look-alikes it rejects.

CORPUS is what `cawb redteam --export` writes. COMMAND is run once for each candidate; {task} and {candidate} in it become files: the task in
KernelBench's form, and a Python file with ModelNew, or, of tier 1, a folder with kernel.cu and plan.lua. Exit status 0: it accepts, 1: it
rejects; any other, and too long a time, means that it was brought down, which counts as caught.

Class G and candidates named jail_ attack the machine: they are left out unless --classes names G. Run those in a container only.
Prints a table by class, and one JSON object last.
"""
import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile

ACCEPTS, REJECTS, DOWN = "accepts", "rejects", "down"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus")
    parser.add_argument("--classes", default="ABCDEF")
    parser.add_argument("--only", default="")
    parser.add_argument("--tier", type=int, default=2, choices=(1, 2))
    parser.add_argument("--timeout", type=float, default=120)
    own, command = sys.argv[1:], []
    if "--" in own:
        own, command = own[:own.index("--")], own[own.index("--") + 1:]
    given = parser.parse_args(own)
    if not any("{candidate}" in word for word in command):
        parser.error("the judge's command follows --, with {task} and {candidate}")
    return given, command


def records(given):
    with open(given.corpus, encoding="utf-8") as file:
        for line in file:
            record = json.loads(line)
            if record["format"] != "cawb-redteam-1":
                raise SystemExit("%s: format %s is not known" % (given.corpus, record["format"]))
            hostile = record["name"].startswith("jail_") and "G" not in given.classes
            here = record.get("device") in (None, "cpu", "sim:h100")
            if record["tier"] == given.tier and record["class"] in given.classes and given.only in record["name"] and here and not hostile:
                yield record


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def laid_out(folder, record, candidate):
    """Files of a task and a candidate."""
    task, place = os.path.join(folder, record["task"]["name"] + ".py"), os.path.join(folder, "candidate")
    write(task, record["task"]["python"])
    if "python" in candidate:
        place += ".py"
        write(place, candidate["python"])
    else:
        write(os.path.join(place, "kernel.cu"), candidate["source"])
        write(os.path.join(place, "plan.lua"), candidate["plan"])
    return task, place


def asked(command, record, candidate, timeout):
    with tempfile.TemporaryDirectory() as folder:
        task, place = laid_out(folder, record, candidate)
        words = [word.replace("{task}", task).replace("{candidate}", place) for word in command]
        process = subprocess.Popen(words, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   start_new_session=True)
        try:
            status = process.wait(timeout)
        except subprocess.TimeoutExpired:
            status = None
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()
    return ACCEPTS if status == 0 else REJECTS if status == 1 else DOWN


def judged(given, command):
    """By class: cheats, caught, brought down; look-alikes, each once, and those rejected."""
    rows, honest = {}, {}
    for record in records(given):
        row = rows.setdefault(record["class"], {"name": record["class_name"], "cheats": 0, "caught": 0, "down": 0, "passed": [], "honest": 0,
                                                "rejected": []})
        found = asked(command, record, record["cheat"], given.timeout)
        row["cheats"] += 1
        row["caught"] += found != ACCEPTS
        row["down"] += found == DOWN
        row["passed"] += [record["name"]] if found == ACCEPTS else []
        for one in record["honest"]:
            name = one.get("name") or record["name"]
            if name not in honest and one.get("device") in (None, "cpu", "sim:h100"):
                honest[name] = asked(command, record, one["candidate"], given.timeout)
                row["honest"] += 1
                row["rejected"] += [name] if honest[name] != ACCEPTS else []
        print(record["name"], found, file=sys.stderr, flush=True)
    return rows


def main():
    given, command = arguments()
    rows = judged(given, command)
    print("%-36s %-14s %s" % ("class", "caught", "honest rejected"))
    for key in sorted(rows):
        row = rows[key]
        print("%-36s %-14s %d of %d" % (key + "  " + row["name"], "%d of %d" % (row["caught"], row["cheats"]), len(row["rejected"]), row["honest"]))
    every = {name: sum(row[name] for row in rows.values()) for name in ("cheats", "caught", "down", "honest")}
    every["rejected"] = sum(len(row["rejected"]) for row in rows.values())
    print("%-36s %-14s %d of %d" % ("all", "%(caught)d of %(cheats)d" % every, every["rejected"], every["honest"]))
    print(json.dumps({"command": command, "tier": given.tier, "classes": rows, "all": every}))


if __name__ == "__main__":
    main()
