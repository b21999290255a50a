"""An error that every element has, such as a factor of 1.003: the regression of the error on the reference.

Rounding goes up and down: over n elements it comes to a roundoff divided by the root of n. An output in 16 bits may be off by
that type's roundoff in each element, and hides a factor there that the regression shows.
"""
import torch

LEAST, MOST = 256, 1 << 20               # elements, and of how many of them
FEW, LOOKED = 8, 1 << 12                 # magnitudes, among so many elements


def sampled(tensor):
    tensor = tensor.reshape(-1)
    return tensor[::max(1, tensor.numel() // MOST)].to(torch.float64)


def of(out, reference):
    """(factor, offset beside the root mean square, elements that count), as tensors where `out` lies: what the error is a multiple
    of the reference by. Elements count as many as equal ones would have to be; those of a few magnitudes alone, whose roundings
    are the same, count as none."""
    ref, got = sampled(reference), sampled(out)
    both = ref.isfinite() & got.isfinite() & ((ref.to(out.dtype).to(torch.float64) != ref) | (got != ref))    # rounded, or off
    ref, d = torch.where(both, ref, 0.0), torch.where(both, got - ref, 0.0)
    top = ref.abs().max()
    some = top > 0                                   # else no element counts that has a size
    ref, d = torch.where(some, ref / top, 0.0), torch.where(some, d / top, 0.0)      # squares of squares stay finite
    square = (ref * ref).sum().clamp(min=1e-300)
    sizes = ref.abs()[::max(1, ref.numel() // LOOKED)].to(torch.float32).unique()
    factor = (d * ref).sum() / square
    mean = d.sum() / (square * both.sum().clamp(min=1)).sqrt()
    return torch.stack((factor, mean, square * square / (ref ** 4).sum().clamp(min=1e-300) * (len(sizes) > FEW)))


def of_eager(eager, reference):
    """The same of eager PyTorch's output of 16 bits, and of the rounded reference: where values repeat or lie on the type's own grid,
    so do their roundings. None of wider outputs, which are held to less than such a factor anyway."""
    if not eager.dtype.is_floating_point or eager.dtype.itemsize != 2 or eager.numel() < LEAST:
        return None
    return torch.stack((of(eager, reference), of(reference.to(eager.dtype), reference)))


def numbers(found):
    return {"factor": float(found[0]), "offset": float(found[1]), "elements": float(found[2])}


def note(expected, entries, slot_of):
    """Notes what outputs of 16 bits come to, beside the reference or the rounded reference, whichever is nearer."""
    for i, e in enumerate(expected):
        if e.eager_slope is not None:
            eager, rounded = e.eager_slope
            for slot, entry in enumerate(entries[i]):
                own = of(e.apart.without(slot_of(i, slot)), e.reference)
                least = torch.where((own - rounded).abs() < own.abs(), own - rounded, own)
                entry["slope"] = dict(numbers((*least[:2], own[2])), eager=numbers(eager))
