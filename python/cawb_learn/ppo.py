"""ppo: advantages, losses, and one update of actor and critic. All tensors are (episodes, places); `mask` is 1 where the policy chose
the token. What it only read (tasks, names of decisions, verdicts) is stepped over."""
import torch

import model


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


def log_probabilities(actor, tokens):
    """Of each place's token given those before it (0 at the first), and the entropy there."""
    logs = torch.log_softmax(actor(tokens)[:, :-1], -1)
    chosen = logs.gather(2, tokens[:, 1:, None])[:, :, 0]
    entropy = -(logs.exp() * logs).sum(-1)
    return (torch.cat([torch.zeros_like(chosen[:, :1]), part], 1) for part in (chosen, entropy))


def values_of(critic, tokens):
    """The value ahead of each place's token: of what stands before it."""
    values = critic(tokens)[:, :-1, 0]
    return torch.cat([torch.zeros_like(values[:, :1]), values], 1)


def batch_of(episodes):
    """Episodes as tensors: tokens, mask, rewards, logs (of the tokens, when they were drawn)."""
    told = {name: model.padded([e[name] for e in episodes], 0, torch.float32) for name in ("mask", "rewards", "logs")}
    return dict(told, tokens=model.padded([e["tokens"] for e in episodes]))


def advantages_of(knobs, batch, critic):
    """Advantages (whitened), returns, and the critic's values before the update."""
    with torch.no_grad():
        values = values_of(critic, batch["tokens"]) * batch["mask"]
    advantages, returns = gae(batch["rewards"], values, batch["mask"], knobs["gamma"], knobs["lambda"])
    return whiten(advantages, batch["mask"]), returns, values


def step(optimizer, loss, module, most):
    optimizer.zero_grad()
    loss.backward()
    norm = torch.nn.utils.clip_grad_norm_(module.parameters(), most)
    optimizer.step()
    return float(norm)


def critic_update(knobs, batch, critic, optimizer, returns, values):
    loss = value_loss(values_of(critic, batch["tokens"]), values, returns, batch["mask"], knobs["value_clip"])
    step(optimizer, loss, critic, knobs["gradient"])
    return float(loss.detach())


def update(knobs, episodes, actor, critic, optimizers, entropy_weight=0.0):
    """PPO on a batch of episodes: some epochs for actor and critic. Returns what a log shows."""
    batch = batch_of(episodes)
    advantages, returns, values = advantages_of(knobs, batch, critic)
    told = {"explained": explained(values, returns, batch["mask"])}
    for _ in range(knobs["epochs"]):
        new, entropy = log_probabilities(actor, batch["tokens"])
        loss, clipped = policy_loss(new, batch["logs"], advantages, batch["mask"], knobs["clip_low"], knobs["clip_high"])
        told["gradient"] = step(optimizers["actor"], loss - entropy_weight * mean(entropy, batch["mask"]), actor, knobs["gradient"])
        told["value_loss"] = critic_update(knobs, batch, critic, optimizers["critic"], returns, values)
    told.update(policy_loss=float(loss.detach()), clipped=float(clipped), entropy=float(mean(entropy.detach(), batch["mask"])), **ratios(new.detach(), batch))
    return told


def ratios(new, batch):
    """Percentiles of the importance ratio over the tokens that were chosen."""
    picked = torch.exp(new - batch["logs"])[batch["mask"] > 0]
    return {"ratio_p%s" % name: float(torch.quantile(picked, q)) for name, q in (("1", 0.01), ("50", 0.5), ("99", 0.99), ("99.9", 0.999))}
