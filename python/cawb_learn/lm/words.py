"""cawb-train lm: a pretrained language model learns to write kernels.

    cawb-train lm CORPUS --out DIR --texts 10000 --model smollm2     the corpus, all stages, and the measurement after each
    cawb-train lm CORPUS --out DIR --model tiny --tiny               the stages with a random model, to see that all is there

CORPUS is a folder of `cawb synth --teach`; --texts makes it. The same command goes on where it was left.
"""
import argparse
import ast
import os
import sys
import time
import warnings

REQUIREMENTS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "engines", "requirements-trl.txt")


def _words():
    words = argparse.ArgumentParser(prog="cawb-train lm", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("corpus", help="a folder with texts.jsonl and taught.jsonl")
    words.add_argument("--out", default="cawb-lm", help="a folder for all of it (cawb-lm)")
    words.add_argument("--texts", type=int, help="make the corpus first, until it has so many texts")
    words.add_argument("--model", required=True, help="smollm2, which is fetched once (SmolLM2-135M-Instruct), a GGUF file, a folder of transformers, or tiny")
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


def _over(where):
    print("the time is up in %s; the same command goes on" % where, file=sys.stderr)
    return 1


def _wanted(text, known):
    """The stages of a list."""
    for name in text.split(","):
        if name not in known:
            raise SystemExit("--stages: '%s' is none of %s" % (name, ", ".join(known)))
    return text.split(",")


def _perform(args, knobs, ends):
    """The stages on a corpus that is there. Returns the exit code."""
    from . import begin, judge, stages
    wanted, model = _wanted(args.stages, stages.STAGES), begin.model(args.model)
    with judge.serve(args.corpus, os.path.join(args.out, "judged", wanted[0]), args.places, args.device, args.reward) as env:
        try:
            stages.Run(args.corpus, args.out, model, knobs, env, ends, lambda text: print(text, flush=True)).run(wanted)
        except stages.Over as over:
            return _over("stage %s" % over)
    return 0


def _quiet():
    """Leaves out what libraries say of themselves: bars of loading, and names that they will change."""
    import transformers
    warnings.filterwarnings("ignore", category=FutureWarning, module=r"transformers\.")
    warnings.filterwarnings("ignore", category=FutureWarning, module=r".*\.single$")        # where TRL's own arguments are made
    transformers.utils.logging.disable_progress_bar()
    transformers.utils.logging.set_verbosity_error()


def main(argv):
    """The command. Returns its exit code: 0 all done; 1 the time was up."""
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    os.environ.setdefault("TRL_EXPERIMENTAL_SILENCE", "1")
    args = _words().parse_args(argv)
    knobs, ends = _knobs(args), time.monotonic() + args.seconds if args.seconds else None
    try:
        from . import begin, stages
    except ModuleNotFoundError as error:
        raise SystemExit("cawb-train lm needs the package %s: ./bootstrap train makes an environment that cawb-train lm takes by itself; elsewhere pip install -r %s" % (error.name, REQUIREMENTS)) from None
    _wanted(args.stages, stages.STAGES)
    _quiet()
    if args.texts and not begin.corpus(args.corpus, args.texts, args.places, args.device, args.seconds):
        return _over("the corpus")
    return _perform(args, knobs, ends)
