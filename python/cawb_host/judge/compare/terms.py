"""A second look at an output: its errors relative to the terms that its elements are made of.

A result that cancels is small beside its terms, so its error is larger than its own size allows. Among millions of rows
some cancel, and not the same ones for PyTorch and for a candidate. The size of the terms follows from the reference: every
factor is moved by the same small share, up or down at random. So is every intermediate result that rounding moves.
The result moves by that share of its terms. Narrow factors stay visible: they are as far off beside the terms as beside
the result.

The same measure finds an error that the whole output hides: `part` is the sign and magnitude of the reference at which a
candidate is furthest from eager PyTorch.
"""
import math

import torch

from cawb_host.torch.mode import Mode
from cawb_host.torch import operators
from cawb_host.judge.compare import native
from cawb_host.judge.compare.reference import FAR, grid
from cawb_host.base.forms import real
from cawb_host.base.tensors import copied, flat, mapped, wide

MOVE = 2.0 ** -24                        # the share, up or down
# Moves of values that a forward rounds to 16 bits itself and computes on with. With these, float32's limits (64 roundoffs,
# 7.6e-6 for a move of 2^-24) leave room for one roundoff of that type: the cost of rounding the other way.
SHORT = {torch.float16: 2.0 ** -18, torch.bfloat16: 2.0 ** -15}
ELEMENTS = 1 << 24                       # at a time
FEW, PROBES, MOST_PROBES = 1 << 20, 2, 4  # elements of all outputs, up to which there are the most
DOWN, UP = 40, 6                         # octaves of magnitude around the rms
NEAR, SLIGHT = 9, 1e-3                   # octaves below the rms in which an error counts in full: to a thousandth; beyond
ENOUGH, SOME = 32, 4                     # elements of a part, and of one further down

# In unit roundoffs of a type, from where on a second look may matter: far below any limit. The
# worst element's by the largest, all of them and a row by the rms.
UNIT = {torch.float64: 1.2e-16, torch.float32: 6e-8, torch.float16: 4.9e-4, torch.bfloat16: 3.9e-3}
DOUBTFUL = {8: 30, 4: 30, 2: 0.5}
HOPELESS, SMALL = 0.01, 4096             # normalised rms error of outputs that are no longer small,
WORSE = 100                              # or so many times eager PyTorch's


LITTLE = 2.3e-308                        # for elements whose terms have no size
LEAST = 100                              # unit roundoffs that no element's own size is held against
ROOM = 4                                 # unit roundoffs of 16 bits that an element may be off by, beside its terms
OWN = 1 << 16                            # elements of an output, beyond which nobody asks for each one's own size


def plain_matters(entry, found, dtype):
    """Whether the error of a straightforward kernel may matter: not if an output is far off beside its terms too."""
    if found["nrms"] > HOPELESS and entry["numel"] > SMALL:
        return False
    own, part = found["own"] if entry["numel"] <= OWN else 0, found.get("part")
    of_part = part["nrms"] * weight(part["from"]) if part else 0
    return doubtful(entry, dtype) or max(own, of_part) > LEAST * UNIT[dtype]


def doubtful(entry, dtype):
    """Whether a second look may change the verdict on an output."""
    eager, least = entry.get("eager") or {}, DOUBTFUL[dtype.itemsize] * UNIT[dtype]
    worst, row = (entry.get("worst") or {}).get("error"), entry.get("worst_row")
    if entry.get("nrms") is None or worst is None:
        return False
    if not entry.get("scale"):           # all of it is zero: nothing but the terms has a size
        return worst > 0
    if entry["nrms"] > max(HOPELESS, WORSE * (eager.get("nrms") or 0)) and entry["numel"] > SMALL \
            and (eager.get("nrms") or 0) <= least:
        return False                     # where PyTorch itself is off another right program may be off by much more
    return entry["nrms"] > max(least, 2 * (eager.get("nrms") or 0)) \
        or worst > max(2 * least * entry["scale"], 2 * (eager.get("worst") or 0)) \
        or row["nrms"] > max(2 * least, 2 * ((eager.get("worst_row") or {}).get("nrms") or 0)) \
        or entry["far"] > 5e-4 + 2 * (eager.get("far") or 0)


class Moves(Mode):
    """Factors and results of operators, moved by a share of themselves, up or down at random, each number in its own
    way. Some operators soften a factor, such as a softmax of small numbers: moving the factor alone would show nothing,
    but the result is rounded all the same. Chosen elements do not move: a largest element still equals itself."""

    def __init__(self, device, seed, number, share):
        super().__init__()
        self.share, self.generator = share, torch.Generator(device)
        self.generator.manual_seed((seed + 0x5851f42d * (number + 1)) & ((1 << 62) - 1))

    def factor(self, tensor):
        if tensor.is_complex():
            return torch.view_as_complex(self.factor(real(tensor)))
        if not tensor.is_floating_point() or not tensor.numel():
            return tensor
        made = wide(tensor)
        return self.move(copied(made) if made is tensor else made, self.share)

    def move(self, tensor, share):
        lies = flat(tensor)
        for start in range(0, lies.numel(), ELEMENTS):
            part = lies[start:start + ELEMENTS]
            sides = torch.randint(2, part.shape, generator=self.generator, device=part.device, dtype=torch.int8)
            part.addcmul_(part, sides.to(part.dtype).mul_(2 * share).sub_(share))
        return tensor

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        made = func(*args, **kwargs)
        row = operators.of(func)
        share = SHORT.get(kwargs.get("dtype"), 0 if row.name == "_to_copy" else self.share)
        if share and row.kind != "view" and not row.moves and not row.chooses:
            mapped(list(made) if isinstance(made, (list, tuple)) else [made], lambda t: self.rounded(t, share))
        return made

    def rounded(self, tensor, share):
        if tensor.dtype == torch.float64 and tensor.numel():
            self.move(tensor, share)
        return tensor


class Terms:
    """The terms of one trial: how large the terms of each output's elements are, and eager PyTorch's errors beside
    them. `moved` is how far one rounding of all inputs and intermediate results moves an output: the most that was seen,
    beside its root mean square."""

    def __init__(self, runner, inputs, seed, expected):
        self.expected = expected
        floats = [i for i, e in enumerate(expected) if e.dtype.is_floating_point and e.numel]
        probes = MOST_PROBES if sum(expected[i].numel for i in floats) <= FEW else PROBES
        self.sizes, self.fetched = {i: 0 for i in floats}, {}
        far = {i: [] for i in floats}
        for probe in range(probes):
            moves = Moves(runner.device, seed, probe, MOVE)
            outs = runner.forward_near(inputs, seed, moves.factor, moves)
            for i in floats:
                moved = self.squares(i, outs[i][1])
                far[i].append(moved.mean())
                self.sizes[i] = moved.add_(self.sizes[i])
        self.moved = {i: math.sqrt(float(torch.stack(far[i]).max())) / (expected[i].rms or 1.0) for i in floats}
        for i in floats:
            self.sizes[i] = self.sizes[i].div_(probes).sqrt_().div_(MOVE)
        for dtype in SHORT:
            self.cross_corners(runner, inputs, seed, dtype)
        eager = runner.forward(inputs, seed)
        self.eager = {i: self.look(i, eager[i][1]) for i in floats}

    def squares(self, i, out):
        """Of how far each element is from the reference."""
        e = self.expected[i]
        moved = e.apart.without(out).reshape(e.reference.shape).sub_(e.reference)
        return moved.square_().nan_to_num_(nan=0.0, posinf=0.0, neginf=0.0)

    def cross_corners(self, runner, inputs, seed, dtype):
        """Sizes of elements near zero, as behind a relu: a small move leaves them there, but rounding what they are made of to
        16 bits takes some of them across the corner. Of two moves that mirror each other one goes that way."""
        at, squares = [i for i in self.sizes if self.expected[i].dtype == dtype and self.expected[i].numel <= OWN], {}
        share = ROOM * UNIT[dtype]
        for probe in range(2 * PROBES if at else 0):
            moves = Moves(runner.device, seed, probe // 2, -share if probe % 2 else share)
            outs = runner.forward_near(inputs, seed, lambda t: copied(wide(t)), moves)
            squares = {i: squares.get(i, 0) + self.squares(i, outs[i][1]) for i in at}
        for i, e in ((i, self.expected[i]) for i in at):
            size = (squares[i] / (2 * PROBES)).sqrt_() / share
            self.sizes[i] = self.sizes[i].maximum(size.where(e.reference.abs() <= UNIT[dtype] * e.rms, 0.0))

    def near(self, i, out):
        """An output, its reference and the sizes of its terms where the library reads them."""
        if i not in self.fetched:
            self.fetched[i] = self.expected[i].reference.cpu(), self.sizes[i].cpu()
        return out.cpu(), *self.fetched[i]

    def beside(self, i, out, plain=()):
        """The second look at output `i`: its errors and eager PyTorch's, or None; `plain` are the looks at outputs of
        plain.py."""
        mine, eager = self.look(i, out), self.eager.get(i)
        if mine is None or eager is None:
            return None
        parts, others = mine.pop("parts"), [max(one) for one in zip(eager["parts"], *(p["parts"] for p in plain))]
        found = dict(mine, eager=without_parts(eager))
        if plain:
            found["plain"] = largest([without_parts(p) for p in plain])
        part = furthest(parts, others)
        return dict(found, part=part) if part else found

    def look(self, i, out):
        e, sizes = self.expected[i], self.sizes[i]
        rows, cols = grid(e.shape)
        out, look = e.apart.without(out).reshape(rows, cols), Look(e, rows, cols)
        if e.scale and native.fetches(out):
            return look.native(native.look(*self.near(i, out), look))
        step = max(1, ELEMENTS // max(1, cols))
        for start in range(0, rows, step):
            part = slice(start, start + step)
            ref = e.reference[part]      # an element that is NaN on both sides has no error, and no size
            d = (out[part].to(torch.float64) - ref).nan_to_num_(nan=0.0, posinf=0.0, neginf=0.0)
            look.take(start, d, ref.nan_to_num(nan=0.0, posinf=0.0, neginf=0.0), sizes[part])
        return look.result()


class Look:
    """Of one output; `worst` and `square` are beside the scale and the rms."""

    def __init__(self, e, rows, cols):
        self.scale, self.rms = e.scale or 1.0, e.rms or 1.0
        self.least = self.rms if e.rms else LITTLE       # a row's size where neither it nor its terms have one
        self.clamps = (e.scale, e.rms) if e.scale else (LITTLE, LITTLE)
        self.rows, self.cols, self.far_above = rows, cols, FAR[e.dtype]
        self.worst = self.own = self.square = self.far = 0.0
        self.row, self.parts = (-1.0, 0), None

    def take(self, start, d, ref, sizes):
        d = d.abs_()
        largest, usual = self.clamps
        self.worst = max(self.worst, float((d / sizes.clamp(min=largest)).max()))
        self.square += float((d / sizes.clamp(min=usual)).square_().sum())
        own = ref.square().mean(1).sqrt_()
        own = torch.maximum(torch.where(own > 0, own, self.least), sizes.square().mean(1).sqrt_())
        each = d.square().mean(1).sqrt_() / own
        at = int(each.argmax())
        if not float(each[at]) <= self.row[0]:
            self.row = float(each[at]), start + at
        size = torch.maximum(ref.abs(), sizes).clamp_(min=LITTLE)
        share = (d / size).clamp_(max=1e30)
        self.own = max(self.own, float(share.max()))
        self.far += int((share > self.far_above).sum())
        self.note_parts(ref, share)

    def native(self, found):
        """All rows at once, as the library has found them."""
        self.worst, self.square, self.own, self.far = found.worst, found.square, found.own, found.far
        self.row = found.row, found.row_at
        self.parts = torch.tensor([list(found.squares), list(found.counts)], dtype=torch.float64, device="cpu")
        return self.result()

    def note_parts(self, ref, share):
        """Sums of squares by sign and octave."""
        octave = (ref.abs() / self.rms).clamp_(min=1e-300).log2_().floor_().clamp_(-DOWN - 1, UP) + DOWN
        group = torch.where(ref < 0, octave, octave + (DOWN + UP + 1))
        group = torch.where(octave < 0, 2 * (DOWN + UP + 1), group).to(torch.int64).reshape(-1)
        count = 2 * (DOWN + UP + 1) + 1
        sums = torch.bincount(group, share.reshape(-1).square(), count)
        found = torch.stack((sums, torch.bincount(group, minlength=count).to(torch.float64)))
        self.parts = found if self.parts is None else self.parts + found

    def result(self):
        """As reference.py has them, relative to the terms; None where one is no number."""
        worst, nrms = self.worst * self.scale, math.sqrt(self.square / (self.rows * self.cols)) if self.square == self.square else math.nan
        if not all(map(math.isfinite, (worst, nrms, self.row[0]))):
            return None
        return {"worst": worst, "own": self.own, "nrms": nrms, "far": self.far / (self.rows * self.cols),
                "worst_row": {"index": self.row[1], "nrms": self.row[0], "rows": self.rows},
                "parts": self.errors_of_parts()}

    def errors_of_parts(self):
        octave = torch.arange(self.parts.shape[1], device=self.parts.device) % (DOWN + UP + 1)
        enough = torch.where(octave >= DOWN - NEAR, ENOUGH, SOME)
        return (self.parts[0] / self.parts[1].clamp(min=1)).sqrt().where(self.parts[1] >= enough, 0.0).tolist()


def without_parts(look):
    return {k: v for k, v in look.items() if k != "parts"}


def largest(all_errors):
    """Of several lots of errors the largest of each."""
    found = {key: max(each[key] for each in all_errors) for key in ("worst", "nrms", "far", "own") if key in all_errors[0]}
    return dict(found, worst_row=max((each["worst_row"] for each in all_errors), key=lambda row: row["nrms"]))


def weight(size):
    """The weight of an error at a multiple of the rms: below a thousandth of the rms it is a thousandth."""
    return 1 if size >= SLIGHT else SLIGHT


def furthest(mine, eager):
    """The part whose error is the largest of those that are beyond three of eager's."""
    octaves = DOWN + UP + 1
    beyond = [(error * weight(2.0 ** (i % octaves - DOWN)), error, other, i)
              for i, (error, other) in enumerate(zip(mine[:-1], eager)) if error > 3 * other]
    if not beyond:
        return None
    _, error, other, i = max(beyond)
    return {"nrms": error, "eager": other, "sign": "-" if i < octaves else "+",
            "from": 2.0 ** (i % octaves - DOWN)}
