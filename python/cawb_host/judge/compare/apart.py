"""Elements of a size of their own, such as the -1e38 of a mask: they are judged by themselves, so that they hide no others.

Errors are held against the size of the whole output. A few elements that are larger by orders of magnitude would decide that
size. They are set apart where all of them are one of a few constants, or beyond what a kind of inputs may come to. Each has to
be right for its own size. In all other statistics a usual number stands in their places, on both sides.
"""
import math

import torch

from cawb_host.base.tensors import number

CONSTANT, BEYOND = 2.0 ** 12, 2.0 ** 30  # times the usual size: of constants, and of others
FEW, SHARE = 4, 0.01                     # constants, and share of elements that are none
SAMPLE, VALUES = 1 << 13, 1 << 16        # elements: to know the usual size, and of which values are told apart
RANGE = {torch.float32: 1e37, torch.bfloat16: 1e37, torch.float16: 3e4, torch.float64: 1e307}    # as in battery.lua
LOST = 0.1
NEAR = {8: 1e-10, 4: 3e-5, 2: 8e-3}      # by bytes of an element: a relative error that passes


class Apart:
    """Of one output; `mask` is None where there are no such elements."""

    def __init__(self, reference, eager):
        self.mask, self.usual, ref = None, 0.0, reference.to(torch.float64)
        if not ref.numel():
            return
        sample, low, high = looked_at(ref)
        own = [v for v in sample if v > 0]
        self.usual = own[len(own) // 4] if own else 0.0
        most, range_ = max(abs(low), abs(high)), RANGE.get(eager.dtype, 1e37)
        if not self.usual or most <= CONSTANT * self.usual:          # NaN is looked at, too
            return
        several = len({v for v in own if v > CONSTANT * self.usual}) > FEW
        if not (several and most <= range_):
            self.choose(ref, eager, range_)

    def choose(self, ref, eager, range_):
        large = beyond(ref, CONSTANT * self.usual)
        values = ref[large]
        if not len(values):
            return
        count = len(values[:VALUES].unique())
        constant = count <= FEW and 2 * count <= len(values) and bool((eager[large].to(torch.float64) == values.to(eager.dtype)).all())
        if not constant:
            large = beyond(ref, max(BEYOND * self.usual, range_))
            constant = 0 < int(large.sum()) <= max(1, SHARE * large.numel())
        if constant and not bool((large | (ref == 0) | ~ref.isfinite()).all()):
            self.mask, self.want = large, ref[large]
            own = self.errors(eager)[0]
            self.limit = max(NEAR.get(eager.dtype.itemsize, LOST), 3 * own)
            self.mask = large if own <= LOST else None       # where PyTorch itself is far off nothing is to be judged

    def errors(self, out):
        """The largest relative error there, and which elements are beyond the limit."""
        share = (out.reshape(self.mask.shape)[self.mask].to(torch.float64) - self.want).abs() / self.want.abs()
        return float(share.nan_to_num(nan=1.0).max()), ~(share <= getattr(self, "limit", 0.0))

    def without(self, tensor):
        """The same with a usual number in their places."""
        return tensor if self.mask is None else torch.where(self.mask, self.usual, tensor.reshape(self.mask.shape)).reshape(tensor.shape)

    def describe(self, out):
        """For an entry: how many there are, how large, and how many of them are wrong."""
        worst, wrong = self.errors(out)
        return {"count": int(self.mask.sum()), "largest": number(float(self.want.abs().max())), "wrong": int(wrong.sum()),
                "error": number(worst), "limit": self.limit}


def beyond(ref, size):
    """Which elements are finite and larger: in bytes, because another float64 copy of a large reference may be more than there
    is memory for."""
    return ((ref > size) & (ref < math.inf)) | ((ref < -size) & (ref > -math.inf))


def looked_at(ref):
    """Finite magnitudes of a sample in order, zeros in place of others; and the two ends of all. One transfer brings them."""
    sample = ref.reshape(-1)[::ref.numel() // SAMPLE | 1].abs()      # an odd step meets all columns
    sample = torch.where(sample < math.inf, sample, 0.0).sort().values
    found = torch.cat((sample, torch.stack(ref.aminmax()))).tolist()
    return found[:-2], found[-2], found[-1]
