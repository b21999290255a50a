"""Elements of a size of their own, such as the -1e38 of a mask: they are judged by themselves, so that they hide no others.

Errors are held against the size of the whole output. A few elements that are larger by orders of magnitude would decide that
size. They are set apart where all of them are one of a few constants, or beyond what a kind of inputs may come to. Each has to
be right for its own size. In all other statistics a usual number stands in their places, on both sides.
"""
import torch

from cawb_host.base.tensors import number

CONSTANT, BEYOND = 2.0 ** 12, 2.0 ** 30  # times the usual size: of constants, and of others
FEW, SHARE = 4, 0.01                     # constants, and share of elements that are none
SAMPLE = 1 << 16
RANGE = {torch.float32: 1e37, torch.bfloat16: 1e37, torch.float16: 3e4, torch.float64: 1e307}    # as in battery.lua
LOST = 0.1
NEAR = {8: 1e-10, 4: 3e-5, 2: 8e-3}      # by bytes of an element: a relative error that passes


class Apart:
    """Of one output; `mask` is None where there are no such elements."""

    def __init__(self, reference, eager):
        self.mask = self.usual = None
        ref = reference.to(torch.float64)
        sample = ref.reshape(-1)[::max(1, ref.numel() // SAMPLE)].abs()
        sample = sample[(sample > 0) & sample.isfinite()]
        self.usual = float(sample.quantile(0.25)) if sample.numel() else 0.0
        if self.usual and not all(bool(end.abs() <= CONSTANT * self.usual) for end in ref.aminmax()):     # NaN is looked at, too
            self.choose(ref, eager)

    def choose(self, ref, eager):
        sizes = torch.where(ref.isfinite(), ref.abs(), 0.0)
        large = sizes > CONSTANT * self.usual
        if not bool(large.any()):
            return
        values = ref[large][:SAMPLE].unique()
        constant = len(values) <= FEW and 2 * len(values) <= int(large.sum()) and bool((eager[large].to(torch.float64) == ref[large].to(eager.dtype)).all())
        if not constant:
            large = (sizes > BEYOND * self.usual) & (sizes > RANGE.get(eager.dtype, 1e37))
            constant = 0 < int(large.sum()) <= max(1, SHARE * large.numel())
        if constant and not bool(large[sizes > 0].all()):
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
