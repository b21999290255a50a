"""cawb-train: the staged procedure on a scale model.

    python train run SUITE --out DIR [--knob NAME=VALUE]...      one run: all stages, checkpoints, log.jsonl
    python train ablate SUITE --out DIR [--seeds N] [--hours H]  every variant, search baselines, the table
    python train report DIR                                      what is there by now, as tables and curves
    python train policy CHECKPOINT                               programs for whoever asks, line by line
"""
import argparse
import ast
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)


def _words():
    words = argparse.ArgumentParser(prog="cawb-train", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("what", choices=("run", "ablate", "report", "policy"))
    words.add_argument("subject", help="a suite of tasks, a folder, or a checkpoint")
    words.add_argument("--out", default="cawb-train")
    words.add_argument("--knob", action="append", default=[], metavar="NAME=VALUE", help="see train/knobs.py")
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
    words.add_argument("--option", action="append", default=[], metavar="KEY=VALUE", help="an option of cawb serve, over those of client.BRIEF: scale.memory=131072")
    words.add_argument("--memo", help="a file that runs share; without it DIR/memo.jsonl")
    return words


def _value(text):
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def knobs_of(args):
    import knobs
    changes = dict(knobs.TINY) if args.tiny else {}
    for word in args.knob:
        name, found, value = word.partition("=")
        if not found:
            raise SystemExit("--knob takes NAME=VALUE, as in --knob turns=2")
        changes[name] = _value(value)
    try:
        return knobs.of(**changes)
    except KeyError as error:
        raise SystemExit(error.args[0])


def options_of(args):
    """What the server is told beyond client.BRIEF."""
    pairs = [word.partition("=") for word in args.option]
    if not all(found for _, found, _ in pairs):
        raise SystemExit("--option takes KEY=VALUE, as in --option scale.memory=131072")
    return {key: _value(value) for key, _, value in pairs}


def main():
    args = _words().parse_args()
    args.options = options_of(args)
    if args.what == "report":
        import report
        return report.main(args.subject)
    if args.what == "policy":
        import policy
        return policy.main(args.subject)
    import ablate
    return (ablate.one if args.what == "run" else ablate.main)(args, knobs_of(args))


if __name__ == "__main__":
    main()
