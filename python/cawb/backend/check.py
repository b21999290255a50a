"""check: the first call of a package. Its results are compared with eager PyTorch's and with float64, by Dynamo's own rule."""
import contextlib
import copy
import logging
import math

import torch
from torch._dynamo import debug_utils, utils

from cawb.backend import attention, packages
from cawb.backend.fallback import eager, settled, with_copies

log = logging.getLogger("cawb")
TOLERANCE = 1e-4
NOISE = 0.5             # an error of eager PyTorch's above this is no error: the result is rounding
FEW = 1e-5               # of whole numbers: they may differ where eager's do not, as the places of nearly equal values do


def wide(module, args):
    """The results in float64, or None where there is no room for them."""
    try:
        model, given = debug_utils.cast_to_fp64(copy.deepcopy(with_copies(module)), list(args))      # float64 may come in other strides
        with torch.no_grad(), attention.InFloat64():
            return model.forward(*given)
    except Exception as error:         # pylint: disable=broad-except   # an operator that has no float64
        log.info("a graph has no results in float64: %s", error)
        return None


def error_of(found, wanted):
    """The root mean square of the difference, relative to that of `wanted`, where that is finite; None for what has none."""
    if not isinstance(found, torch.Tensor) or not found.is_floating_point() or wanted.dtype != torch.float64 or found.shape != wanted.shape:
        return None
    finite = wanted.isfinite()
    found, wanted = found[finite], wanted[finite]
    if found.numel() == 0:
        return None
    difference = (found.double() - wanted).square().mean().sqrt().item()
    size = wanted.square().mean().sqrt().item()
    return difference / size if size else difference


def noisy(plain, exact):
    """Of which results eager PyTorch has no digit: the gradient of a bias in front of a batch norm, which is zero but for rounding."""
    return [i for i, e in enumerate(map(error_of, plain, exact or [])) if e is not None and e > NOISE]


def largest(results, wanted, without):
    errors = [e for i, e in enumerate(map(error_of, results, wanted or [])) if e is not None and i not in without]
    return max(errors, key=lambda e: math.inf if math.isnan(e) else e, default=None)


def unlike(found, wanted):
    return (found != wanted).count_nonzero().item()


def same(plain, found, truth, say):
    """Dynamo's rule. Of whole numbers, as the places of largest elements, at most twice as many as eager's may differ from float64's: rounding
    decides between nearly equal values."""
    if plain.shape != found.shape or plain.dtype != found.dtype:
        return False
    if truth is None or plain.is_floating_point() or plain.is_complex() or truth.shape != plain.shape:
        return utils.same(plain, found, truth, tol=TOLERANCE, equal_nan=True, log_error=say)
    wrong, most = unlike(found, truth), 2 * unlike(plain, truth) + int(FEW * plain.numel())
    if wrong > most:
        say("%d of %d whole numbers differ from float64's, at most %d may", wrong, plain.numel(), most)
    return wrong <= most


def compare(module, args, found, phase=contextlib.nullcontext):
    """{"ok", "error", "eager", "noise"}: whether results are right, their error against float64 and that of eager PyTorch (None
    where it is not known), and the numbers of results that are nothing but rounding, which have none. Where there is no float64, strict
    float32 is the measure: TF32's errors are larger than what may differ from it. `phase(name)`: a clock."""
    module = settled(module)
    with phase("float64"):
        exact = wide(module, args)
    with phase("eager PyTorch"), torch.no_grad(), packages.strict() if exact is None else contextlib.nullcontext():
        plain = eager(module)(*args)
    with phase("comparison"):
        return verdict(module, plain, found, exact)


def verdict(module, plain, found, exact):
    parts = attention.shown(module)
    pairs = [(parts[i](a), parts[i](b), i) for i, (a, b) in enumerate(zip(plain, found)) if isinstance(a, torch.Tensor) and parts[i]]
    if exact is not None:
        exact = [part(x) if part and isinstance(x, torch.Tensor) else x for part, x in zip(parts, exact)]
    # Where float64 itself is no number, as of a sum beyond its range, eager's word counts.
    words, fine = [], True
    for a, b, i in pairs:
        truth = exact[i] if exact is not None and isinstance(exact[i], torch.Tensor) else None
        fine = fine and same(a, b, truth, lambda *w: words.append(w[0] % w[1:]))
    plain, found = [a for a, _, _ in pairs], [b for _, b, _ in pairs]
    exact = [exact[i] for _, _, i in pairs] if exact is not None else None
    noise = noisy(plain, exact)
    return {"ok": bool(fine), "error": largest(found, exact, noise), "eager": largest(plain, exact, noise), "words": words,
            "noise": [pairs[i][2] + 1 for i in noise]}
