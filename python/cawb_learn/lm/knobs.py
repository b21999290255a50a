"""knobs: every number of the stages of a language model, in one table."""

KNOBS = {
    # adapters of peft, on every linear layer
    "rank": 64, "alpha": 128,
    # texts: the longest prompt with its answer, in tokens; longer ones are left out
    "length": 2048,
    # imitation: supervised, loss on the answer alone
    "imitation_epochs": 4, "imitation_rate": 1e-3, "imitation_batch": 32, "at_a_time": 16, "warmup": 0.05,
    # samples: of a task, their temperature, tokens of an answer at most, how many are written at once
    "samples": 8, "temperature": 0.8, "tokens": 1500, "at_once": 512,
    # RL of one turn: GRPO
    "single_steps": 100, "single_rate": 2e-5, "single_tasks": 16, "group": 8, "clip_low": 0.2, "clip_high": 0.28,
    # RFT: the best of its own samples that are right, of each task at most so many
    "rft_tasks": 400, "rft_kept": 2, "rft_epochs": 1, "rft_rate": 2e-4,
    # the measurement after each stage
    "held_out": 200,
    "seed": 0, "save_steps": 50,
}

TINY = {"rank": 4, "alpha": 8, "imitation_epochs": 2, "imitation_batch": 2, "samples": 2, "tokens": 12, "at_once": 8, "single_steps": 1,
        "single_tasks": 1, "group": 2, "rft_tasks": 2, "held_out": 2, "save_steps": 2}


def of(**changes):
    """The table with changes; a name that it does not have is a mistake."""
    for name in changes:
        if name not in KNOBS:
            raise SystemExit("there is no knob '%s'; python/cawb_learn/lm/knobs.py has them all" % name)
    return dict(KNOBS, **changes)
