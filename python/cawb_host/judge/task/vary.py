"""Weights as training might have left them, in place of those that a constructor gave.

A layer begins with a weight of 1, a bias of 0 and empty statistics: a kernel that reads none of them would be right. So
constant weights get a value for each element, and random weights another scale and place for each row, from a secret seed.
Zero rows stay zero, and positive statistics stay positive. Buffers that hold a pattern (a mask, a table of positions)
belong to the operator and do not change.
"""
import torch

from cawb_host.base.tensors import STORED

STRENGTHS = (1.0, 0.25)      # the first with which the reference stays near float64
SHRINKS = (0.5, 0.25, 0.1)   # times as large, where it does so with no weights of the usual size: a chaotic net


def varied(module, seed, strength, boosts=None, shrink=1.0):
    """Changes a module in place; returns the names of the changed weights. `boosts` says by name how much more than usual
    a weight changes; learned weights are `shrink` times as large."""
    changed, done = [], set()
    generator = torch.Generator()
    learned = {id(p) for p in module.parameters()}
    for number, (name, tensor) in enumerate(module.state_dict(keep_vars=True).items()):
        if not isinstance(tensor, torch.Tensor) or not tensor.is_floating_point() or tensor.dtype in STORED \
                or not tensor.numel():
            continue
        if tensor.data_ptr() in done:
            continue
        done.add(tensor.data_ptr())
        generator.manual_seed((seed + 0x9e3779b9 * number) & ((1 << 62) - 1))
        made = another(tensor.detach(), id(tensor) in learned, generator,
                       strength * (boosts or {}).get(name, 1.0))
        if made is not None:
            with torch.no_grad():
                tensor.detach().copy_(made * shrink if id(tensor) in learned else made)
            changed.append(name)
    return changed


def another(tensor, learned, generator, strength):
    """Values to put in its place, or None."""
    def draw(*shape):
        return torch.rand(shape, generator=generator, dtype=torch.float64, device="cpu").to(tensor.device)

    first = float(tensor.reshape(-1)[0])
    if bool((tensor == first).all()):
        if not (learned or tensor.numel() > 1):
            return None
        if first == 0:
            return (draw(*tensor.shape) - 0.5) * 2 * strength
        factors = torch.exp2((draw(*tensor.shape) * 4 - 2) * min(strength, 2.0))
        flipped = 0 if not learned or strength < 1 else 1 if tensor.numel() == 1 else 0.2   # one alone is seen once
        signs = torch.where(draw(*tensor.shape) < flipped, -1.0, 1.0)
        return first * factors * signs
    if not learned or not bool(torch.isfinite(tensor).all()):
        return None
    rows = tensor.to(torch.float64).reshape(tensor.shape[0], -1)
    shift = rows.square().mean().sqrt() * 0.4 * (draw(rows.shape[0], 1) - 0.5) * strength
    made = rows * torch.exp2((draw(rows.shape[0], 1) * 2 - 1) * strength) + shift
    zero = (rows == 0).all(1, keepdim=True)
    return torch.where(zero, rows, made).reshape(tensor.shape)
