"""cawb-train lm: a pretrained language model learns to write kernels.

    cawb-train lm CORPUS --out DIR --model SmolLM2-135M-Instruct.Q4_1.gguf     all stages, and the measurement after each
    cawb-train lm CORPUS --out DIR --model tiny --tiny                         the same with a random model, to see that all is there

CORPUS is a folder that `cawb synth --teach` made. The same command goes on where it was left.
"""
import argparse
import ast
import os
import sys

REQUIREMENTS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "engines", "requirements-trl.txt")


def _words():
    words = argparse.ArgumentParser(prog="cawb-train lm", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("corpus", help="a folder with texts.jsonl and taught.jsonl")
    words.add_argument("--out", default="cawb-lm", help="a folder for all of it (cawb-lm)")
    words.add_argument("--model", required=True, help="a GGUF file, a folder of transformers, or tiny")
    words.add_argument("--stages", default="imitation,single,rft,critic,agentic", help="a list, with commas (imitation,single,rft,critic,agentic)")
    words.add_argument("--seconds", type=float, help="end after about so many; the same command goes on")
    words.add_argument("--knob", action="append", default=[], metavar="NAME=VALUE", help="see python/cawb_learn/lm/knobs.py")
    words.add_argument("--tiny", action="store_true", help="the smallest run that has every stage")
    words.add_argument("--places", type=int, default=os.cpu_count() or 1, help="candidates that are judged at once")
    words.add_argument("--device", default="sim:h100", help="where candidates run (sim:h100)")
    words.add_argument("--reward", default="reward-log-speedup", help="a reward of cawb serve (reward-log-speedup)")
    return words


def usage(given):
    """What to do with other words: the help, or what is wrong."""
    if given[:1] in (["--help"], ["-h"], []):
        print(_words().format_help(), end="")
        return 0 if given else 2
    return "cawb-train has one command, lm; '%s' is none" % given[0]


def _knobs(args):
    from . import knobs
    pairs = [word.partition("=") for word in args.knob]
    if not all(found for _, found, _ in pairs):
        raise SystemExit("--knob takes NAME=VALUE, as in --knob rank=16")
    return knobs.of(**dict(knobs.TINY if args.tiny else {}, **{name: ast.literal_eval(value) for name, _, value in pairs}))


def main(argv):
    """The command. Returns its exit code: 0 all done; 1 the time was up."""
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    args = _words().parse_args(argv)
    knobs = _knobs(args)
    try:
        from . import judge, stages
    except ModuleNotFoundError as error:
        raise SystemExit("cawb-train lm needs the package %s: ./bootstrap train makes an environment that cawb-train lm takes by itself; elsewhere pip install -r %s" % (error.name, REQUIREMENTS)) from None
    wanted = args.stages.split(",")
    for name in wanted:
        if name not in stages.STAGES:
            raise SystemExit("--stages: '%s' is none of %s" % (name, ", ".join(stages.STAGES)))
    with judge.serve(args.corpus, os.path.join(args.out, "judged", wanted[0]), args.places, args.device, args.reward) as env:
        run = stages.Run(args.corpus, args.out, args.model, knobs, env, args.seconds, lambda text: print(text, flush=True))
        try:
            run.run(wanted)
        except stages.Over as over:
            print("the time is up in stage %s; the same command goes on" % over, file=sys.stderr)
            return 1
    return 0
