"""cawb-train: the staged procedure on a scale model.

    cawb-train run SUITE --out DIR [--knob NAME=VALUE]...      one run: all stages, checkpoints, search baselines, the table
    cawb-train ablate SUITE --out DIR [--seeds N]              the same for every variant
    cawb-train report DIR                                      what is there by now, as a table and curves
    cawb-train lm CORPUS --model FILE --out DIR                a pretrained language model: cawb-train lm --help
"""
import argparse
import ast
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))


def _words():
    words = argparse.ArgumentParser(prog="cawb-train", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("what", choices=("run", "ablate", "report"))
    words.add_argument("subject", help="a suite of tasks, or a folder")
    words.add_argument("--out", default="cawb-train", help="a folder for all of it (cawb-train)")
    words.add_argument("--knob", action="append", default=[], metavar="NAME=VALUE", help="see python/cawb_learn/knobs.py")
    words.add_argument("--tiny", action="store_true", help="the smallest run that has every stage")
    words.add_argument("--variants", help="a list, with commas; without it all")
    for flag, usual, told in (("--seeds", 5, "runs of each variant"), ("--held-out", 8, "tasks that are only tested on"),
                              ("--least", 0, "tasks with so many decisions or fewer are left out"), ("--decisions", 40, "tasks with more are left out"),
                              ("--resident", 8, "tasks that a place keeps loaded"), ("--search", 64, "evaluations of each search"),
                              ("--places", os.cpu_count() or 1, "candidates that are judged at once")):
        words.add_argument(flag, type=int, default=usual, help="%s (%d)" % (told, usual))
    words.add_argument("--device", default="sim:h100", help="where candidates run (sim:h100)")
    words.add_argument("--option", action="append", default=[], metavar="NAME=VALUE", help="of cawb serve, over those of client.BRIEF")
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
    return knobs.of(**dict(knobs.TINY if args.tiny else {}, **_pairs(args.knob, "--knob")))


def main():
    if sys.argv[1:2] == ["lm"]:
        from lm import words
        sys.exit(words.main(sys.argv[2:]))
    args = _words().parse_args()
    args.options = _pairs(args.option, "--option")
    import ablate
    try:
        if args.what == "report":
            return ablate.report.main(args.subject)
        if args.what == "run":
            args.variants, args.seeds = "full", 1
        return ablate.main(args, knobs_of(args))
    except (ablate.client.cawb.Failed, FileNotFoundError) as error:
        raise SystemExit("cawb-train: %s%s" % (error, "; ./bootstrap builds it" if str(error).endswith("bin/cawb'") else "")) from None


if __name__ == "__main__":
    main()
