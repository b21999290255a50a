"""What of a module computes otherwise in training mode: dropout, which draws, and batch norms, which use the batch's statistics.
A Model begins in training mode, which few mean."""
import torch.nn as nn

MOST = 3                            # names that a message shows


def probability(module):
    """How often it drops, where it drops at all."""
    if isinstance(module, nn.modules.dropout._DropoutNd):
        return module.p
    if isinstance(module, (nn.MultiheadAttention, nn.RNNBase)):
        return module.dropout
    return 0


def named(modules):
    shown = ", ".join(modules[:MOST])
    return shown + (" and %d more" % (len(modules) - MOST) if len(modules) > MOST else "")


def dropouts(module):
    """Names of those that draw."""
    return ["%s, p=%g" % (name or "the module itself", probability(m)) for name, m in module.named_modules()
            if m.training and probability(m) > 0]


def batch_norms(module):
    """Names of norms that take statistics from the batch, and keep running ones."""
    return [name or "the module itself" for name, m in module.named_modules()
            if isinstance(m, nn.modules.batchnorm._NormBase) and m.training and m.track_running_stats]


def note_of_randomness(module):
    """Why outputs depend on random numbers, and what to do."""
    names = dropouts(module)
    if not names:
        return "the outputs depend on torch's random state: no kernel can repeat them; leave out what draws"
    return ("the module is in TRAINING mode, and its dropout draws (%s): for inference call self.eval() at the end of __init__"
            % named(names))


def note_of_changes(module):
    """What it means that forward changes the module."""
    names = batch_norms(module)
    if not names:
        return "forward changes the module's own state; every call here starts from a fresh copy"
    return ("BatchNorm is in TRAINING mode (%s): it uses the batch's statistics. For inference call self.eval() at the end of"
            " __init__" % named(names))
