"""knobs: every number of the procedure, in one table. `paper` names those that the CUDA Agent paper gives; their scale is ours."""

MARGIN = 0.05           # lua/cawb/base/stats.lua owns it; tests/door/test_owners.lua holds both equal

KNOBS = {
    # the model: 2 x 64 learns on a processor; 4 x 128 and 6 x 256 are for more
    "layers": 2, "width": 64, "heads": 2, "length": 256,
    # an episode
    "turns": 8,                  # of the agent loop; the first one is compose's own program
    "edits": 2,                  # of the best program so far, at most so many a turn
    "reward": "log",             # of the speed-up over PyTorch; or "tiers" (paper), or "raw"
    "fail_cost": 0.05,           # of the reward, for each turn that is not right, or that has been there
    # PPO (paper: clip 0.2 and 0.28, gamma 1, lambda 0.95, the critic at twice the actor's rate)
    "clip_low": 0.2, "clip_high": 0.28, "gamma": 1.0, "lambda": 0.95, "rate": 5e-4, "critic_factor": 2.0,
    "value_clip": 0.5, "epochs": 3, "gradient": 1.0, "samples": 4, "batch": 16,
    # stage 0, in place of a pretrained model: likelihood of the better ones of random programs
    "prior_steps": 250, "prior_programs": 32, "prior_best": 12, "prior_episodes": 6, "prior_rate": 2e-3,
    # stage 1: one turn, PPO; below the target entropy is paid for
    "single_steps": 20, "entropy_target": 1.0, "entropy_weight": 0.01,
    # stage 2: rejection fine-tuning on trajectories of the agent loop
    "rft_steps": 20, "rft_trajectories": 64, "rft_rate": 2e-4,
    # stage 3: the critic alone, on targets of GAE
    "value_steps": 40, "value_trajectories": 64,
    # stage 4: many turns, PPO
    "agentic_steps": 40, "agentic_rate": 1e-3,
    # the run
    "seed": 0, "every": 20,
}

VARIANTS = {                                               # those of the paper's ablation, and one without what stands for its model
    "full": {},
    "no loop": {"turns": 1},                               # the batch grows instead, see ablate.variant
    "tiers": {"reward": "tiers"}, "raw speed-up": {"reward": "raw"},
    "no RFT": {"rft_steps": 0}, "no value pre-training": {"value_steps": 0}, "no stage 0": {"prior_steps": 0},
}

TINY = {"batch": 8, "samples": 2, "turns": 2, "prior_steps": 6, "prior_programs": 4, "prior_best": 2, "single_steps": 3, "rft_steps": 3,
        "rft_trajectories": 8, "value_steps": 3, "value_trajectories": 8, "agentic_steps": 3, "epochs": 1, "every": 2}


def of(**changes):
    """The table with changes; a name that it does not have is a mistake."""
    for name in changes:
        if name not in KNOBS:
            raise SystemExit("there is no knob '%s'; python/cawb_learn/knobs.py has them all" % name)
    return dict(KNOBS, **changes)
