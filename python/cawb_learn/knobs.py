"""knobs: every number of the procedure, in one table. `paper` names those that the CUDA Agent paper gives; their scale is ours."""

MARGIN = 0.05           # lua/cawb/base/stats.lua owns it; tests/door/test_owners.lua holds both equal

KNOBS = {
    # the model: 2 x 64 learns on a processor; 4 x 128 and 6 x 256 are for more
    "layers": 2, "width": 64, "heads": 2, "length": 256,
    # the language and the state
    "free": True,                # the language in which programs can be wrong; False: the sound one
    "profile": True,             # what limits a turn's kernels is in the state
    "turns": 8,                  # of an agent loop
    "turn_cost": 0.0,            # of the reward, for each turn after the first, which the policy may then end an episode ahead of
    "fail_cost": 0.05,           # of the reward, for each turn that is not right, or that has been there
    "reward": "log",             # "log", "raw" or "tiers" (paper); "own": four times the log of the gain over compose's own schedule
    "start": True,               # compose's own program is the first turn of an episode: it counts as one, and the policy goes on from it
    "action": "edits", "edits": 2,  # of the best program so far, at most so many a turn; or "whole": every value of a program is written
    "legal": False,              # only what can be read is drawn, and no edit that changes nothing; what is learnt is still to write it
    "exact": False,              # with `legal`: importance ratio and entropy are of what could be drawn, too
    "fine": True,                # how a turn compares with the best before it is in the state, in bins of 4%
    "paid": "turn",              # what a turn adds to the best before it is paid when it comes; or "end" (paper): all of it then
    # PPO (paper: clip 0.2 and 0.28, gamma 1, lambda 0.95, the critic at twice the actor's rate)
    "clip_low": 0.2, "clip_high": 0.28, "gamma": 1.0, "lambda": 0.95, "rate": 5e-4, "critic_factor": 2.0,
    "value_clip": 0.5, "epochs": 3, "gradient": 1.0, "samples": 4, "batch": 16, "temperature": 1.0,
    "entropy_target": 1.0, "entropy_weight": 0.01,      # of stage 1: below the target entropy is paid for
    "half": False,               # rollouts in bfloat16, updates in float32
    # stage -1, which rebuilds the paper's condition: a prior in which programs are rare
    "rare_steps": 0, "rare_share": 1e-4, "rare_rate": 1e-3,
    # stage 0, in place of a pretrained model: likelihood of the better ones of random programs
    "prior_steps": 250, "prior_programs": 32, "prior_best": 12, "prior_episodes": 6, "prior_rate": 2e-3,
    # stage 1: one turn, PPO
    "single_steps": 20,
    # stage 2: rejection fine-tuning on trajectories of the agent loop
    "rft_steps": 20, "rft_trajectories": 64, "rft_least": -1.0, "rft_rate": 2e-4,
    # stage 3: the critic alone, on targets of GAE
    "value_steps": 40, "value_trajectories": 64,
    # stage 4: many turns, PPO
    "agentic_steps": 40, "agentic_rate": 1e-3, "agentic_entropy": 0.0,
    # the run
    "seed": 0, "every": 20,
}

VARIANTS = {
    "full": {},
    "no loop": {"turns": 1},                               # the batch grows instead, see ablate.variant
    "tiers": {"reward": "tiers"}, "raw speed-up": {"reward": "raw"},
    "no RFT": {"rft_steps": 0}, "no value pre-training": {"value_steps": 0}, "no stage 0": {"prior_steps": 0},
    "no profile": {"profile": False},
    "own reward": {"reward": "own"},                       # changes to the full one: of reward,
    "paid at the end": {"paid": "end"},                    #   of when it is paid,
    "coarse": {"fine": False},                             #   of state,
    "legal": {"legal": True},                              #   of action: what cannot be read is not drawn,
    "legal and larger": {"legal": True, "batch": 64, "prior_steps": 150, "agentic_steps": 20, "agentic_rate": 5e-4},
    "whole": {"action": "whole", "start": False, "paid": "end", "fine": False, "turns": 4, "length": 320},          # of action: programs from nothing
    "rare": {"rare_steps": 150, "half": True}, "rare without RFT": {"rare_steps": 150, "half": True, "rft_steps": 0},
}

TINY = {"batch": 8, "samples": 2, "turns": 2, "prior_steps": 6, "prior_programs": 4, "prior_best": 2, "single_steps": 3, "rft_steps": 3,
        "rft_trajectories": 8, "rft_least": -1.0, "value_steps": 3, "value_trajectories": 8, "agentic_steps": 3, "epochs": 1, "every": 2}


def of(**changes):
    """The table with changes; a name that it does not have is a mistake."""
    for name in changes:
        if name not in KNOBS:
            raise KeyError("there is no knob '%s'; python/cawb_learn/knobs.py has them all" % name)
    return dict(KNOBS, **changes)
