"""The reference's weights into a candidate's module: as load_state_dict does, with a mapping.

1. A weight goes to the one of the same name, if its shape is the same too.
2. What is left is matched by shape, in the order in which each module lists it, where
   both have the same number of weights of that shape left.
3. Counters (integers of no dimension, as BatchNorm's) may be missing. All else may not:
   the candidate would compute with weights of its own.
Weights of the candidate's that match none of the reference's keep what its constructor
gave them.
"""
import torch

from cawb_host.base.fault import Fault
from cawb_host.base.forms import state_of


def load(module, given):
    """`given` is [(name, tensor, kind)]. Returns {"renamed": {theirs: ours}, "skipped": [...]}."""
    own = state_of(module)
    matched, left = exact(own, given)
    renamed, missing = by_shape([n for n in own if n not in matched.values()], own, left)
    skipped = [name for name, tensor, _ in missing if counter(tensor)]
    lost = [(name, tensor) for name, tensor, _ in missing if not counter(tensor)]
    if lost:
        raise Fault("task", "ModelNew has no place for %s; it has %s. Weights are loaded by name"
                    " and shape: keep the parameters of Model"
                    % (listed(lost), listed([(n, own[n]) for n in own
                                             if n not in matched.values()
                                             and n not in renamed.values()]) or "no others"))
    matched.update(renamed)
    with torch.no_grad():
        for name, tensor, _ in given:
            if name in matched:
                own[matched[name]].copy_(tensor)
    return {"renamed": renamed, "skipped": skipped}


def exact(own, given):
    matched, left = {}, []
    for name, tensor, kind in given:
        if name in own and own[name].shape == tensor.shape:
            matched[name] = name
        else:
            left.append((name, tensor, kind))
    return matched, left


def by_shape(free, own, left):
    renamed, missing = {}, []
    for shape in {tuple(t.shape): None for _, t, _ in left}:
        theirs = [entry for entry in left if tuple(entry[1].shape) == shape]
        ours = [name for name in free if tuple(own[name].shape) == shape]
        if len(theirs) == len(ours):
            renamed.update((entry[0], name) for entry, name in zip(theirs, ours))
        else:
            missing += theirs
    return renamed, missing


def counter(tensor):
    return tensor.dim() == 0 and not tensor.is_floating_point()


def listed(weights, most=6):
    words = ["%s %s" % (name, list(t.shape)) for name, t in weights[:most]]
    return ", ".join(words) + (", ..." if len(weights) > most else "")
