"""critic.py: the critic of python/cawb_learn/lm/agentic.py says 0 of each token at first, and after some passes alone explains returns that can be told
from the question, while the actor stays as it is. Exit status 77 where there is no peft."""
import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
sys.path[:0] = [os.path.join(ROOT, "python")]

try:
    import torch
    from cawb_learn.lm import agentic, knobs, turns, weights
except ImportError:
    sys.exit(77)


def episode(good):
    """A task whose question says whether its answer is right."""
    one = turns.Episode("t", [20 + good] * 4)
    one.add([30, 31, 32], True)
    one.paid("", {"ok": bool(good), "reward": 1.0 if good else -1.0})
    return one


numbers = knobs.of(rank=8, critic_rate=1e-2, agentic_at_a_time=4, passes=8)
model, tokenizer = weights.load("tiny")
copy = weights.load("tiny")[0]
actor = weights.adapted(model, numbers)
learner = agentic.Learner(actor, copy, agentic.critic_of(copy, numbers), tokenizer, numbers, "/nowhere")
episodes = [episode(i % 2) for i in range(16)]
before = {name: value.clone() for name, value in actor.named_parameters()}

first = learner.update(episodes, False)
assert first["explained"] == 0 and abs(first["value_loss"] - 0.5 * 2.0) < 1e-5, first      # returns of 2 and 0, each as often
learner.update(episodes, False)
last = learner.update(episodes, False)
assert last["explained"] > 0.9, last
assert all(torch.equal(before[name], value) for name, value in actor.named_parameters())
learner.update(episodes, True)
assert any(not torch.equal(before[name], value) for name, value in actor.named_parameters())
print("the critic says 0 at first, and explains %.3f after three batches" % last["explained"])
