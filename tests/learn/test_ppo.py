"""python/cawb_learn/lm/ppo.py: advantages and losses by their definitions."""
import math
import os
import sys

import torch

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "python", "cawb_learn"))

from lm import ppo  # noqa: E402


def close(a, b, most=1e-6):
    assert abs(a - b) <= most * max(1.0, abs(b)), (a, b)


def plain_gae(rewards, values, gamma, lam):
    """A_k = sum over l of (gamma lam)^l delta_(k + l); delta_k = r_k + gamma V_(k+1) - V_k, V beyond the end is 0."""
    deltas = [r + gamma * (values[k + 1] if k + 1 < len(values) else 0.0) - values[k] for k, r in enumerate(rewards)]
    return [sum((gamma * lam) ** (j - k) * deltas[j] for j in range(k, len(deltas))) for k in range(len(deltas))]


def drawn(seed):
    torch.manual_seed(seed)
    n, length = 3, 17
    mask = (torch.rand(n, length) > 0.4).double()
    mask[:, 2] = 1
    rewards = torch.randn(n, length).double() * mask
    return mask, rewards, *(torch.randn(n, length).double() for _ in range(5))


def test_gae():
    for gamma, lam in ((1.0, 0.95), (0.9, 0.5)):
        mask, rewards, values, *_ = drawn(1)
        advantages, returns = ppo.gae(rewards, values, mask, gamma, lam)
        for i in range(3):
            at = [k for k in range(17) if mask[i, k] > 0]
            wanted = plain_gae([float(rewards[i, k]) for k in at], [float(values[i, k]) for k in at], gamma, lam)
            for k, a in zip(at, wanted):
                close(float(advantages[i, k]), a)
                close(float(returns[i, k]), a + float(values[i, k]))


def test_whiten():
    mask, _, x, *_ = drawn(2)
    picked = [float(v) for v in x[mask > 0]]
    middle = sum(picked) / len(picked)
    spread = sum((v - middle) ** 2 for v in picked) / (len(picked) - 1)
    for got, v in zip(ppo.whiten(x, mask)[mask > 0], picked):
        close(float(got), (v - middle) / math.sqrt(spread + 1e-8))


def test_policy_loss():
    mask, _, new, old, advantages, *_ = drawn(3)
    loss, clipped = ppo.policy_loss(new, old, advantages, mask, 0.2, 0.28)
    terms, count = [], 0
    for n, o, a in zip(new[mask > 0].tolist(), old[mask > 0].tolist(), advantages[mask > 0].tolist()):
        ratio = math.exp(max(-20.0, min(20.0, n - o)))
        plain, bound = -a * ratio, -a * max(0.8, min(1.28, ratio))
        count += bound > plain
        terms.append(min(max(plain, bound), -a * 3.0) if a < 0 else max(plain, bound))
    close(float(loss), sum(terms) / len(terms))
    close(float(clipped), count / len(terms))


def test_value_loss():
    mask, _, new, old, returns, *_ = drawn(4)
    terms = []
    for v, o, r in zip(new[mask > 0].tolist(), old[mask > 0].tolist(), returns[mask > 0].tolist()):
        near = max(o - 0.5, min(o + 0.5, v))
        terms.append(max((v - r) ** 2, (near - r) ** 2))
    close(float(ppo.value_loss(new, old, returns, mask, 0.5)), 0.5 * sum(terms) / len(terms))


def test_explained():
    mask, _, values, *_ = drawn(5)
    close(ppo.explained(values, values, mask), 1.0)
    close(ppo.explained(torch.zeros_like(values), values, mask), 0.0)


if __name__ == "__main__":
    for name, one in list(globals().items()):
        if name.startswith("test_"):
            one()
