"""search: what a policy has to beat at equal numbers of evaluations, from compose's own program as the policy: random edits, and evolution.
Each returns its curve, the best seconds after each evaluation."""
import random

import lang


def _curve(results, best=None):
    curve = []
    for result in results:
        if result["ok"] and (best is None or result["seconds"] < best):
            best = result["seconds"]
        curve.append(best)
    return curve


def climbed(tasks, task, evaluations, seed=0):
    """One or two values of the best so far drawn anew, again and again: a policy of edits that has learnt nothing."""
    rng, best, curve = random.Random("%s edits %d" % (task, seed)), lang.default(tasks.decisions(task)), []
    program = best
    while len(curve) < evaluations:
        curve += _curve(tasks.score([(task, program)]), curve[-1] if curve else None)
        best = program if len(curve) < 2 or curve[-1] != curve[-2] else best
        program = lang.edited(tasks.decisions(task), rng, 2, best)
    return curve


def _child(parents, decisions, rng):
    """Two parents, value by value, and one or two values of it drawn anew."""
    first, second = rng.choice(parents)[1], rng.choice(parents)[1]
    child = [rng.choice(pair) for pair in zip(first, second)]
    for _ in range(rng.choice((1, 1, 2))):
        at = rng.randrange(len(decisions))
        child[at] = rng.choice(decisions[at]["values"])
    return child


def evolution(tasks, task, evaluations, seed=0, size=8):
    """The better half of `size` programs, compose's own and drawn ones at first, has children, each round as many as there were."""
    rng, decisions = random.Random("%s evolution %d" % (task, seed)), tasks.decisions(task)
    young = [lang.default(decisions)] + [[rng.choice(decision["values"]) for decision in decisions] for _ in range(size - 1)]
    alive, curve = [], []
    while len(curve) < evaluations:
        young = young[:evaluations - len(curve)]
        results = tasks.score([(task, program) for program in young])
        curve += _curve(results, curve[-1] if curve else None)
        alive += [(result["seconds"], program) for result, program in zip(results, young) if result["ok"]]
        alive = sorted(alive, key=lambda one: one[0])[:max(2, size // 2)]
        young = [_child(alive, decisions, rng) for _ in range(size)]
    return curve
