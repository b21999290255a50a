"""verl_same.py: advantages and losses of python/cawb_learn/lm/ppo.py beside verl's own functions, on random episodes, to 1e-6. Exit status 77 where there is
no verl; docs/howto/train.md says how to have it.

    ~/.cache/cawb/verl/bin/python tests/learn/train/verl_same.py
"""
import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
sys.path[:0] = [os.path.join(ROOT, "python/cawb_learn")]

import torch  # noqa: E402

from lm import ppo  # noqa: E402

try:
    from verl.trainer.ppo import core_algos
    from verl.workers.config import ActorConfig
except ImportError:
    sys.exit(77)


def drawn(seed):
    torch.manual_seed(seed)
    mask = (torch.rand(5, 31) > 0.4).double()
    mask[:, 3] = 1
    rewards = torch.randn(5, 31).double() * mask
    return (mask, rewards, *(torch.randn(5, 31).double() for _ in range(4)))


def pairs(seed):
    """What python/cawb_learn/lm/ computes and what verl computes, by name."""
    mask, rewards, values, new, old, returns = drawn(seed)
    config = ActorConfig(strategy="fsdp", rollout_n=1, ppo_micro_batch_size_per_gpu=1, clip_ratio=0.2, clip_ratio_low=0.2, clip_ratio_high=0.28)
    for gamma, lam in ((1.0, 0.95), (0.99, 0.9)):
        advantages, targets = ppo.gae(rewards, values, mask, gamma, lam)
        theirs, their_targets = core_algos.compute_gae_advantage_return(rewards, values, mask, gamma, lam)
        yield "whitened advantages", ppo.whiten(advantages, mask) * mask, theirs * mask
        yield "returns", targets * mask, their_targets * mask
    loss, told = core_algos.compute_policy_loss_vanilla(old, new, theirs, mask, config=config)
    mine, clipped = ppo.policy_loss(new, old, theirs, mask, 0.2, 0.28)
    yield "policy loss", mine, loss
    yield "clip ratio", clipped.double(), torch.tensor(told["actor/pg_clipfrac"]).double()
    loss, _ = core_algos.compute_value_loss(new, returns, old, mask, 0.5)
    yield "value loss", ppo.value_loss(new, old, returns, mask, 0.5), loss


worst = {}
for seed in range(20):
    for name, mine, theirs in pairs(seed):
        worst[name] = max(worst.get(name, 0.0), float((mine - theirs).abs().max()))
for name, off in worst.items():
    print("%s: at most %.1e apart" % (name, off))
    assert off <= 1e-6, name
