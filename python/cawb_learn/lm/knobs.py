"""knobs: every number of the stages of a language model, in one table."""

MARGIN = 0.05                     # a text is faster by so much, or as fast

KNOBS = {
    # adapters of peft, on every linear layer
    "rank": 64, "alpha": 128,
    # texts: the longest prompt with its answer, in tokens; longer ones are left out
    "length": 1024,
    # imitation: supervised, loss on the answer alone
    "imitation_epochs": 6, "imitation_rate": 1e-3, "imitation_batch": 32, "at_a_time": 32, "warmup": 0.05,
    # of the tasks to learn on this share also has a second answer, behind a slower or a wrong text and the judge's words; 0: none, in RFT neither
    "second": 0.5,
    # texts of held-out tasks whose loss is told
    "checked": 256,
    # learning takes at most so many seconds of a command, and the rate falls to 0 by then; None: all steps
    "imitation_seconds": None, "single_seconds": None, "rft_seconds": None, "critic_seconds": None, "agentic_seconds": None,
    # samples: of a task, their temperature, tokens of an answer at most, how many are written at once
    "samples": 8, "temperature": 0.2, "tokens": 640, "at_once": 800,
    # on a GPU a step of sampling is one CUDA graph: the same tokens, 47 -> 6 ms a step of 128 rows
    "graphs": True,
    # RL of one turn: GRPO; tasks of a batch, samples of each, and into how many updates it is cut
    "single_steps": 100, "single_rate": 1e-4, "single_tasks": 32, "group": 8, "single_updates": 2, "clip_low": 0.2, "clip_high": 0.28,
    # RFT: the best of its own samples that are right, of each task at most so many
    "rft_tasks": 400, "rft_kept": 2, "rft_epochs": 1, "rft_rate": 2e-4,
    # RL of several turns: PPO with a critic. Turns of an episode; tasks of a batch, episodes of each, and how many of these learn at once; passes over a batch
    "turns": 2, "agentic_tasks": 16, "agentic_group": 4, "agentic_at_a_time": 4, "passes": 2, "critic_steps": 5, "agentic_steps": 40,
    "actor_rate": 5e-5, "critic_rate": 5e-4, "lambda": 0.99, "value_clip": 0.5,
    # the measurement after each stage
    "held_out": 200,
    "seed": 0, "save_steps": 50,
}

TINY = {"rank": 4, "alpha": 8, "imitation_epochs": 2, "imitation_batch": 2, "samples": 2, "tokens": 12, "at_once": 8, "single_steps": 1,
        "single_tasks": 1, "group": 2, "single_updates": 1, "rft_tasks": 2, "agentic_tasks": 1, "agentic_group": 2, "critic_steps": 1, "agentic_steps": 1,
        "held_out": 2, "save_steps": 2}


def of(**changes):
    """The table with changes; a name that it does not have is a mistake."""
    for name in changes:
        if name not in KNOBS:
            raise SystemExit("there is no knob '%s'; python/cawb_learn/lm/knobs.py has them all" % name)
    return dict(KNOBS, **changes)
