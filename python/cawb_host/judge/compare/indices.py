"""Outputs that are indices: where a maximum lies, in which order values come.

Such an index points to a score. Another index than the reference's is right if its score is as good: equal, or nearer
than rounding can tell. For equal scores PyTorch documents the first for argmax, argmin, max and min, and the given order
for a stable sort. For topk, sort, median and kthvalue it documents no order.

The statistics of an output:

    gap         the largest difference of scores where indices differ, relative to the largest score of their row
    eager       the largest error of eager PyTorch's scores, relative to the same
    exact       whether scores have no error
    later       how many indices come later than the first of equals
    outside     how many lie outside
    repeated    how many come twice
"""
import torch

from cawb_host.torch.mode import Mode
from cawb_host.torch import operators
from cawb_host.torch.recorder import arguments, tensors_in


class Place:
    """Which operator of a forward makes an output: its number among those that make
    indices, and what it was called with."""

    def __init__(self, number, entry, direct):
        args = entry["args"]
        self.name, self.number, self.direct = entry["name"], number, direct
        self.ties = entry["traits"]["index"]
        self.sorted = args.get("sorted", True)
        self.dim = args.get("dim")
        self.shape = entry["outputs"][-1]["shape"]
        self.keeps = len(self.shape) == len(entry["inputs"][0]["shape"])


def places(graph, outputs):
    """A Place or None for each output: pairs of a tensor and the label of its operator."""
    makers = [n for n, e in enumerate(graph) if makes(e)]
    found = []
    for tensor, source in outputs:
        at = None if tensor.is_floating_point() else behind(graph, source, in_order)
        entry = graph[at] if at in makers else None
        direct = entry is not None and behind(graph, entry["inputs"][0]["source"], is_view) is None
        found.append(Place(makers.index(at), entry, direct) if entry else None)
    return found


def makes(entry):
    return "index" in entry["traits"] and entry["outputs"] and entry["outputs"][-1]["dtype"] == "int64"


def is_view(entry):
    return entry["kind"] == "view"


def in_order(entry):
    return "in_order" in entry["traits"]


def behind(graph, source, passes):
    """The operator that made a value, behind operators that let it pass; None for an input or a parameter."""
    while source.startswith("op:"):
        at = int(source[3:]) - 1
        if not passes(graph[at]) or not graph[at]["inputs"]:
            return at
        source = graph[at]["inputs"][0]["source"]
    return None


class Scores(Mode):
    """Keeps the scores that operators with index results chose from, of one forward."""

    def __init__(self, wanted):
        super().__init__()
        self.wanted, self.seen, self.kept = wanted, 0, {}

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        made = list(tensors_in(result))
        row = operators.called(operators.of(func), dict(arguments(func, args, kwargs or {})))
        if row.index and made and made[-1].dtype == torch.int64:
            if self.seen in self.wanted:
                self.kept[self.seen] = args[0], args[0]._version
            self.seen += 1
        return result

    def get(self, number):
        """The scores of one of them, unless they have been overwritten since."""
        scores, version = self.kept.get(number, (None, None))
        return scores if scores is not None and scores._version == version else None


class Index:
    """The scores behind one output, for one set of inputs. Those that are an input have no
    error and are not kept twice."""

    def __init__(self, place, eager, wide):
        self.place, self.eager = place, 0.0
        self.dtype = str(eager.dtype)[6:]
        self.scores = eager if place.direct else wide
        if not place.direct:
            error = (eager.to(torch.float64) - wide).nan_to_num_(nan=float("inf")).abs_()
            error[~torch.isfinite(wide)] = 0       # of those, the order is all that counts
            self.eager = float((error / self.rows_scale()).max()) if error.numel() else 0.0

    def bytes(self):
        return 0 if self.place.direct else self.scores.numel() * self.scores.element_size()

    def lined_up(self, tensor):
        """Scores or indices with the dimension of choice last."""
        dim = self.place.dim
        return tensor.reshape(-1) if dim is None else tensor.movedim(dim, -1) if tensor.dim() else \
            tensor.reshape(1)

    def indices(self, out):
        out = out.reshape(self.place.shape).to(torch.int64)
        if self.place.dim is not None and not self.place.keeps and self.scores.dim():
            out = out.unsqueeze(self.place.dim)
        return self.lined_up(out)

    def rows_scale(self):
        """The largest magnitude of each row, kept as a dimension."""
        if self.place.dim is None:
            least, most = torch.aminmax(self.scores)
        else:
            least, most = torch.aminmax(self.scores, dim=self.place.dim, keepdim=True)
        scale = torch.maximum(least.abs(), most.abs()).to(torch.float64)
        return torch.where(torch.isfinite(scale) & (scale > 0), scale, torch.ones_like(scale))

    def describe(self, more=None):
        place = self.place
        found = {"op": place.name, "ties": place.ties, "dtype": self.dtype,
                 "eager": self.eager, "exact": self.eager == 0, "gap": 0.0, "later": 0,
                 "outside": 0, "repeated": 0}
        found.update(more or {})
        return found

    def judge(self, out, reference, other):
        """The statistics of an output that differs from `reference` (and from `other`, if that is as right)."""
        mine, want = self.indices(out), self.indices(reference)
        differs = mine != want
        if other is not None:
            differs &= mine != self.indices(other)
        scores = self.lined_up(self.scores)
        count = scores.shape[-1]
        outside = (mine < 0) | (mine >= count)
        got = scores.gather(-1, mine.clamp(0, count - 1)).to(torch.float64)
        best = scores.gather(-1, want).to(torch.float64)
        if not self.place.sorted:
            got, best = got.sort(-1).values, best.sort(-1).values
            differs = differs | True
        equal = (got == best) | (got.isnan() & best.isnan())
        gap = torch.where(equal, 0.0, (got - best).abs().nan_to_num_(nan=float("inf")))
        scale = self.lined_up(self.rows_scale()) if self.place.dim is not None else self.rows_scale()
        gap = float(torch.where(differs, gap / scale, 0.0).max())
        later = differs & equal if self.place.ties != "any" and self.eager == 0 else differs & False
        return self.describe({"gap": gap if gap != float("inf") else "inf",
                              "later": int(later.sum()), "outside": int(outside.sum()),
                              "repeated": self.repeated(mine)})

    def repeated(self, mine):
        if mine.shape[-1] < 2:
            return 0
        ordered = mine.sort(-1).values
        return int((ordered[..., 1:] == ordered[..., :-1]).sum())


def found(places_of, eager, wide):
    """An Index or None for each output, from the scores of two forwards."""
    result = []
    for place in places_of:
        mine = eager.get(place.number) if place else None
        other = wide.get(place.number) if place and wide else None
        usable = mine is not None and (place.direct or other is not None and
                                       other.shape == mine.shape)
        result.append(Index(place, mine, other) if usable else None)
    return result
