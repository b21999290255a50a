"""ppo: advantages and losses. All tensors are (episodes, places); `mask` is 1 where the policy chose the token. What it only read (the task, the
judge's words) is stepped over."""
import torch


def mean(x, mask):
    return (x * mask).sum() / mask.sum().clamp(min=1)


def whiten(x, mask):
    """Mean 0 and variance 1 (Bessel's) over what is masked in."""
    n, middle = mask.sum(), mean(x, mask)
    variance = mean((x - middle) ** 2, mask) * (n / (n - 1).clamp(min=1))
    return (x - middle) * torch.rsqrt(variance + 1e-8)


def gae(rewards, values, mask, gamma, lam):
    """Generalised advantage estimates (Schulman et al., 2016) and the returns that the critic learns: advantages + values."""
    advantages = torch.zeros_like(values)
    following, last = torch.zeros_like(values[:, 0]), torch.zeros_like(values[:, 0])
    for t in range(values.shape[1] - 1, -1, -1):
        here = mask[:, t]
        now = rewards[:, t] + gamma * following - values[:, t] + gamma * lam * last
        following = torch.where(here > 0, values[:, t], following)
        last = torch.where(here > 0, now, last)
        advantages[:, t] = last
    return advantages, advantages + values


def policy_loss(new, old, advantages, mask, low, high, dual=3.0):
    """PPO's clipped loss with bounds of their own below and above (clip-higher) and the dual clip (Ye et al., 2020) for bad actions;
    and the share of ratios that were clipped."""
    ratio = torch.exp((new - old).clamp(-20, 20))
    plain, bound = -advantages * ratio, -advantages * ratio.clamp(1 - low, 1 + high)
    worse = torch.maximum(plain, bound)
    loss = torch.where(advantages < 0, torch.minimum(worse, -advantages * dual), worse)
    return mean(loss, mask), mean((bound > plain).float(), mask)


def value_loss(new, old, returns, mask, clip):
    """Half the squared error, the larger one of the value and of the value kept near the old one."""
    near = torch.maximum(torch.minimum(new, old + clip), old - clip)
    return 0.5 * mean(torch.maximum((new - returns) ** 2, (near - returns) ** 2), mask)


def explained(values, returns, mask):
    """The share of the returns' variance that the values explain: 1 is all, below 0 worse than their mean."""
    picked, target = values[mask > 0], returns[mask > 0]
    spread = target.var(unbiased=False)
    return float(1 - (target - picked).var(unbiased=False) / spread) if spread > 1e-12 else 0.0
