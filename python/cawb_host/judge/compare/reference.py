"""One output judged against its reference: counts and errors, no verdicts.

Errors are differences from the float64 reference; the sums are native.c's, and judge.cu's on a GPU:

    row     the last dimension longer than 1
    nrms    rms(out - ref) / rms(ref), of everything or of a row
    far     the share of elements whose relative error is above FAR, returned as `far_above`

If a kind of value differs (NaN, an infinity, an unwritten element), the other errors are null, so that no comparison
of them can pass. In an integer or bool output every element must equal the float64 reference's or eager PyTorch's: a
floor() of a rounded value goes either way. indices.py judges indices.
"""
import math
import sys

import torch

from cawb_host.judge.compare import native
from cawb_host.judge.compare import slope
from cawb_host.judge.compare.apart import Apart
from cawb_host.base.tensors import BITS, bits, number

CLASSES = ("nan", "nan_missing", "inf_mismatch")  # ways to be of the wrong kind

FAR = {torch.float16: 0.05, torch.bfloat16: 0.05, torch.float32: 1e-3, torch.float64: 1e-3}

BLOCK = {"cpu": 1 << 18, "cuda": 1 << 26}  # elements at a time: caches, spare memory


class Expected:
    """The reference of one output, and how far eager PyTorch is from it."""
    eager_slope = None

    def __init__(self, reference, eager, index=None):
        self.dtype, self.shape = eager.dtype, list(eager.shape)
        self.numel = eager.numel()
        self.exact, self.index = not eager.dtype.is_floating_point, index
        if self.exact:
            self.reference, self.eager = reference.to(eager.dtype), None
            self.eager_error = self.measure(eager)
            if self.eager_error["mismatches"]:
                self.eager = eager
            return
        self.rows, self.cols = grid(self.shape)
        self.apart = Apart(reference, eager)
        self.reference = self.apart.without(reference.to(torch.float64)).reshape(self.rows, self.cols)
        self.far = FAR[self.dtype]
        self.measure_scale()
        self.eager_error = self.measure(eager)
        self.eager_slope = slope.of_eager(self.apart.without(eager), self.reference)

    def bytes(self):
        copies = 2 if self.exact and self.eager is not None else 1
        scores = self.index.bytes() if self.index else 0
        return copies * self.reference.numel() * self.reference.element_size() + scores

    def measure(self, out):
        """The errors of an output that PyTorch made."""
        if self.exact:
            return {"mismatches": mismatches(out, self.reference)[0]}
        out = self.apart.without(out)
        found = self.errors(out)
        if found["worst"] is None:
            found = self.classes(out, dict.fromkeys(CLASSES, 0))
        found.pop("index")
        return found

    def measure_scale(self):
        """rms and largest magnitude of the reference's finite elements."""
        square, count, found = native.reference(self.reference)
        self.scale, self.zeros = found.scale, found.zeros
        self.odd = self.numel - int(count.sum())     # elements that are not finite
        self.rms = math.sqrt(float(square.sum()) / max(1.0, float(count.sum())))
        # An all-zero row has no scale of its own: the whole output's serves.
        rms = (square / count.clamp(min=1)).sqrt_()
        self.row_rms = torch.where(rms > 0, rms, torch.full_like(rms, self.rms or 1.0))

    def blocks(self):
        """Pairs of slices that cover rows x cols in pieces of BLOCK elements."""
        most = BLOCK[self.reference.device.type]
        width = max(1, min(self.cols, most))
        height = max(1, most // width)
        for r in range(0, self.rows, height):
            for c in range(0, self.cols, width):
                yield slice(r, min(r + height, self.rows)), slice(c, min(c + width, self.cols))

    def begin(self, outs, poison, _back):
        """Compare outputs that lie in the rows of a matrix of bytes; see gpu_output.py."""
        size = self.numel * self.dtype.itemsize
        return [self.compare(out[:size].view(self.dtype).view(self.shape), poison) for out in outs]

    def finish(self, entries, _back):
        """One entry per output."""
        return entries

    def compare(self, out, poison):
        """The reply's entry for a candidate's output."""
        entry = blank(self)
        if self.exact:
            return self.compare_exact(entry, out, poison)
        if self.apart.mask is not None:
            entry["apart"], out = self.apart.describe(out), self.apart.without(out)
        if not is_nan(poison, self.dtype):
            entry["unwritten"] = self.unwritten(out, poison)
        found = self.errors(out)
        if found["worst"] is None or entry["unwritten"]:
            entry["unwritten"] = entry["unwritten"] or self.unwritten(out, poison)
            found = self.classes(out, entry)
        return describe(entry, self, found, self.at(out, found.pop("index")))

    def compare_exact(self, entry, out, poison):
        count, index = mismatches(out, self.reference, self.eager)
        entry.update(unwritten=self.unwritten(out, poison), mismatches=count,
                     eager=self.eager_error)
        describe_index(entry, self, out)
        if count:
            entry["first"] = self.about(out, index)
        return entry

    def about(self, out, index):
        return {"index": place(index, self.shape), "got": item(out, index), "want": item(self.reference, index)}

    def at(self, out, index):
        if index is None:
            return {}
        return {"index": place(index, self.shape), "got": item(out, index),
                "want": item(self.reference, index)}

    def errors(self, out):
        """Statistics of out - ref. `worst` is None where any of it is not finite."""
        found = {"worst": 0.0, "nrms": 0.0, "bias": 0.0, "worst_row": None, "far": 0.0,
                 "close": 0.0, "index": None}
        if self.numel == 0:
            return found
        if self.scale > torch.finfo(self.dtype).max:  # some belong to infinity
            return dict(found, worst=None)
        sums = Sums(self)
        sums.add(out.reshape(self.rows, self.cols), self.reference)
        return sums.statistics()

    def classes(self, out, entry):
        """Count the elements of the wrong kind, and point to the first one.
        Errors come back only where no kind differs (both sides infinite, say)."""
        out, first, sums = out.reshape(self.rows, self.cols), None, Sums(self)
        for r, c in self.blocks():
            got, ref = out[r, c].to(torch.float64), self.reference[r, c]
            want = ref.to(self.dtype).to(torch.float64)  # overflow is the dtype's, not the kernel's
            nan, missing = got.isnan() & ~want.isnan(), want.isnan() & ~got.isnan()
            infinite = (got.isinf() | want.isinf()) & (got != want) & ~got.isnan() & ~want.isnan()
            for name, mask in zip(CLASSES, (nan, missing, infinite)):
                entry[name] += int(mask.sum())
            bad = nan | missing | infinite
            if first is None and bool(bad.any()):
                at = int(bad.to(torch.uint8).argmax())
                first = (r.start + at // bad.shape[1]) * self.cols + c.start + at % bad.shape[1]
            ref = torch.where(torch.isfinite(ref), ref, 1.0)
            sums.add(torch.where(torch.isfinite(got) & torch.isfinite(want), got, ref), ref, r, c)
            sums.far += int(bad.sum())
        if first is None and not entry.get("unwritten"):
            return sums.statistics()
        return nothing(self, sums.far, first)

    def unwritten(self, out, poison):
        """Elements that hold the poison's bits though they should not."""
        pattern = poison_bits(poison, self.numel, self.dtype, out.device)
        left = bits(out) == pattern
        if self.exact:
            for right in (self.reference, self.eager):
                if right is not None:
                    left &= bits(right) != pattern
        elif not is_nan(poison, self.dtype) and bool(left.any()):
            left &= ~self.near(out)  # a number that a kernel may well have written
        return int(left.sum())

    def near(self, out):
        """Which elements a kernel may have written that have the bits of a poison that is a number: those within a share of the
        reference, or of its rms. Of 16 bits there are few patterns, so many results have them; every second call's poison is NaN."""
        want = self.reference.reshape(-1)
        share = 0.25 if self.dtype.itemsize == 2 else 0.01
        return (out.reshape(-1).to(torch.float64) - want).abs() <= want.abs().clamp(min=self.rms) * share


class Sums:
    """What native.c finds of an output, of all of it or of one block after another."""

    def __init__(self, about):
        self.about, self.rows = about, torch.zeros(about.rows, dtype=torch.float64)
        self.square = self.sum = self.close = 0.0
        self.far, self.worst, self.index = 0, 0.0, 0

    def add(self, out, ref, r=slice(0, None), c=slice(0, None)):
        rows, found = native.errors(out, ref, self.about.far, self.about.rms or sys.float_info.min)
        self.rows[r] += rows
        self.square, self.sum, self.far = self.square + found.square, self.sum + found.sum, self.far + found.far
        self.close = max(self.close, found.close)
        if found.worst > self.worst:
            self.worst = found.worst
            self.index = (r.start + found.worst_at // ref.shape[1]) * self.about.cols + c.start + found.worst_at % ref.shape[1]

    def statistics(self):
        row_nrms = (self.rows / self.about.cols).sqrt_().div_(self.about.row_rms)
        row = int(row_nrms.argmax())
        return statistics(self.about, self.square, self.sum, self.far, self.worst, (row, float(row_nrms[row])), self.close, self.index)


# What an entry says, for outputs judged here and in gpu_output.py alike; `about` is
# an Expected or a Judged.

def blank(about):
    return {"shape": about.shape, "dtype": str(about.dtype)[6:], "numel": about.numel,
            "unwritten": 0, **dict.fromkeys(CLASSES, 0)}


def describe(entry, about, found, worst):
    """The entry of an output with these errors; `worst` has the place and values of the worst element."""
    return dict(entry, scale=number(about.scale), rms=number(about.rms), nrms=found["nrms"],
                bias=found["bias"], far=found["far"], far_above=FAR[about.dtype], close=found["close"], odd=about.odd, zeros=about.zeros,
                worst_row=found["worst_row"],
                worst=dict(worst, error=found["worst"]), eager=about.eager_error)


def describe_index(entry, about, out):
    """The statistics of indices.py for an output of whole numbers, if it knows the scores."""
    if about.index:
        entry["index"] = about.index.judge(out, about.reference, about.eager) \
            if entry["mismatches"] else about.index.describe()


def statistics(about, square, total, far, worst, row, close, index=None):
    """The statistics that sums over all elements come to; `row` is the worst one and
    its normalised rms, `close` the least tolerance, relative and absolute, at which
    allclose holds. None of them where one is not finite."""
    if not all(map(math.isfinite, (square, total, worst, row[1], about.rms))):
        return nothing(about, far)
    scale = about.rms or 1.0
    return {"worst": worst, "nrms": math.sqrt(square / about.numel) / scale,
            "bias": total / about.numel / scale,
            "worst_row": {"index": row[0], "nrms": row[1], "rows": about.rows},
            "far": far / about.numel, "close": close, "index": index}


def nothing(about, far, index=None):
    """The statistics of an output that cannot be measured."""
    return dict(dict.fromkeys(("worst", "nrms", "bias", "worst_row", "close")),
                far=far / about.numel, index=index)


def grid(shape):
    """Rows and columns: a row is the last dimension longer than 1."""
    dims = list(shape)
    while dims and dims[-1] == 1:
        dims.pop()
    cols = dims[-1] if dims else 1
    return math.prod(dims[:-1]), cols


def poison_bits(poison, numel, dtype, device):
    """`numel` elements as they look where nothing overwrote the 32-bit pattern."""
    size = torch.empty(0, dtype=dtype).element_size()
    words = torch.full(((numel * size + 3) // 4,), signed(poison), dtype=torch.int32,
                       device=device)
    if size == 8 and words.numel() % 2:
        words = words.repeat(2)
    return words.view(torch.uint8)[:numel * size].view(BITS[size])


def signed(poison):
    return poison - (1 << 32) if poison >= 1 << 31 else poison


INFINITY = {torch.float16: (16, 0x7c00), torch.bfloat16: (16, 0x7f80),
            torch.float32: (32, 0x7f800000), torch.float64: (64, 0x7ff0 << 48)}


def is_nan(poison, dtype):
    """Whether every element of this dtype made of the pattern is a NaN."""
    if dtype not in INFINITY:
        return False
    size, infinity = INFINITY[dtype]
    elements = {16: (poison & 0xffff, poison >> 16), 32: (poison,), 64: (poison << 32 | poison,)}
    return all(x & (1 << size - 1) - 1 > infinity for x in elements[size])


def mismatches(out, reference, other=None):
    """How many elements equal neither, and the flat index of the first."""
    different = bits(out) != bits(reference)
    if other is not None:
        different &= bits(out) != bits(other)
    count = int(different.sum())
    return count, int(different.to(torch.uint8).argmax()) if count else None


def item(tensor, index):
    value = tensor.reshape(-1)[index]
    if tensor.dtype == torch.bool:  # a kernel may have stored something else than 0 or 1
        value = value.view(torch.uint8)
    return number(value.item())


def place(index, shape):
    """A flat index as one index per dimension, from 0."""
    result = []
    for size in reversed(shape):
        index, at = divmod(index, size)
        result.append(at)
    return result[::-1]
