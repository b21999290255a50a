"""cawb-train: the staged procedure on a scale model.

    python train run SUITE --out DIR [--knob NAME=VALUE]...      one run: all stages, checkpoints, log.jsonl
    python train ablate SUITE --out DIR [--seeds N] [--hours H]  every variant, search baselines, the table
    python train report DIR                                      what is there by now, as tables and curves
    python train policy CHECKPOINT                               programs for whoever asks, line by line
"""
import argparse
import ast
import importlib
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))


def _words():
    words = argparse.ArgumentParser(prog="cawb-train", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("what", choices=("run", "ablate", "report", "policy"))
    words.add_argument("subject", help="a suite of tasks, a folder, or a checkpoint")
    words.add_argument("--out", default="cawb-train")
    words.add_argument("--knob", action="append", default=[], metavar="NAME=VALUE", help="see python/cawb_learn/knobs.py")
    words.add_argument("--tiny", action="store_true", help="the smallest run that has every stage")
    words.add_argument("--variants", help="a list, with commas; without it all")
    words.add_argument("--hours", type=float, default=8.0)
    words.add_argument("--without", default="$^", help="a pattern: tasks with such a name are left out")
    for flag, usual, told in (("--seeds", 5, "runs of each variant"), ("--tasks", 0, "of the suite, at most; 0: all"), ("--held-out", 8, "tasks that are only tested on"),
                              ("--least", 0, "tasks with so many decisions or fewer are left out"), ("--decisions", 40, "tasks with more are left out"),
                              ("--jobs", 1, "searches and runs at once, of `ablate`"), ("--servers", 1, "each evaluates tasks of its own, in so many places"),
                              ("--resident", 8, "tasks that a place keeps loaded"), ("--search", 64, "evaluations of each search"), ("--search-seeds", 1, ""),
                              ("--places", os.cpu_count() or 1, "candidates at once of each server")):
        words.add_argument(flag, type=int, default=usual, help=told)
    words.add_argument("--device", default="sim:h100")
    words.add_argument("--option", action="append", default=[], metavar="NAME=VALUE", help="of cawb serve, over those of client.BRIEF")
    words.add_argument("--memo", help="a file that runs share; without it DIR/memo.jsonl")
    return words


def _value(text):
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def _pairs(words, flag):
    """NAME=VALUE of a flag's words."""
    pairs = [word.partition("=") for word in words]
    if not all(found for _, found, _ in pairs):
        raise SystemExit("%s takes NAME=VALUE, as in --knob turns=2 or --option scale.memory=131072" % flag)
    return {name: _value(value) for name, _, value in pairs}


def knobs_of(args):
    import knobs
    try:
        return knobs.of(**dict(knobs.TINY if args.tiny else {}, **_pairs(args.knob, "--knob")))
    except KeyError as error:
        raise SystemExit(error.args[0])


def main():
    args = _words().parse_args()
    args.options = _pairs(args.option, "--option")
    import client
    try:
        if args.what in ("report", "policy"):
            return importlib.import_module(args.what).main(args.subject)
        return getattr(importlib.import_module("ablate"), "one" if args.what == "run" else "main")(args, knobs_of(args))
    except (client.cawb.Failed, FileNotFoundError) as error:
        raise SystemExit("cawb-train: %s%s" % (error, "; ./bootstrap builds it" if str(error).endswith("bin/cawb'") else "")) from None


if __name__ == "__main__":
    main()
