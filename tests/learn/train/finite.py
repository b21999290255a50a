"""finite.py: a gradient that is not finite costs a step and no weights, in GRPO (TRL's trainer) and in PPO. Exit status 77 where there is no TRL or peft."""
import os
import sys
import types

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
sys.path[:0] = [os.path.join(ROOT, "python")]

try:
    import torch
    from cawb_learn.lm import agentic, imitation, single
except ImportError:
    sys.exit(77)

STATE = types.SimpleNamespace(global_step=4, max_steps=9)


def with_gradient(number):
    model = torch.nn.Linear(3, 1)
    model(torch.ones(2, 3)).sum().backward()
    model.bias.grad[0] = number
    return model


for number, moves in ((1.0, True), (float("nan"), False), (float("inf"), False)):
    model = with_gradient(1.0)
    before, optimizer = model.weight.detach().clone(), torch.optim.AdamW(model.parameters(), 0.1)
    optimizer.step()                    # from here on it has a momentum, which moves weights whose gradient is 0, too
    first = model.weight.detach().clone()
    model.bias.grad[0] = number
    single.Finite().on_pre_optimizer_step(None, STATE, None, model=model)
    optimizer.step()
    assert not torch.equal(before, first) and torch.equal(first, model.weight) is not moves, number

    model = with_gradient(number)
    before = model.weight.detach().clone()
    learner = types.SimpleNamespace(_modules=lambda model=model: {"actor": model}, optimizers={"actor": torch.optim.SGD(model.parameters(), 0.1)})
    agentic.Learner._stepped(learner, "actor")
    assert torch.equal(before, model.weight) is not moves and model.weight.grad is None, number

imitation.Told("single", reward="r", entropy="e").on_log(None, STATE, None, logs={"r": 1.0, "e": None})       # TRL has None where all was NaN
print("a gradient that is not finite costs a step alone")
