"""The seeds: PyTorch's operators, found by looking at it.

Every function of torch and torch.nn.functional and every class of torch.nn is tried on tensors
without data, of two to five dimensions, in each way to call it (arguments.py). A seed is what makes
one floating-point tensor of the batch's size there, and the same one twice on a few numbers. What it
wants of its operand's values, and what values it gives, is found on those numbers too, so that a
logarithm is not drawn behind a normal distribution.
"""
import contextlib
import dataclasses
import random
import types
import warnings

import torch

from cawb_host.learn import arguments, borrowed
from cawb_host.judge.task.runner import seed_all

SHAPES = {2: (4, 16), 3: (4, 8, 16), 4: (4, 8, 12, 16), 5: (4, 8, 6, 10, 16)}

# Values that an operand may have, from narrow to wide; a value serves where a wider one is wanted.
DRAWS = {"any": lambda shape: torch.randn(shape), "positive": lambda shape: torch.randn(shape).exp() + 1e-3,
         "unit": lambda shape: torch.rand(shape) * 0.98 + 0.01, "above": lambda shape: torch.rand(shape) * 3 + 1.01}
WIDTHS = ("any", "positive", "above", "unit")
SERVES = {"any": ("any",), "positive": ("positive", "any"), "unit": ("unit", "positive", "any"),
          "above": ("above", "positive", "any")}


@dataclasses.dataclass
class Seed:
    name: str                   # nn.Linear, torch.relu, F.gelu
    kind: str                   # module, function, or borrowed: a class of transformers
    what: object
    forms: dict                 # by the number of dimensions: ways to call it
    wants: str = "any"
    gives: str = "any"
    first: bool = False         # of several results the first counts


LAZY = torch.nn.modules.lazy.LazyModuleMixin       # shapes that its first call settles


class Ask:
    """Operands made for a form that is tried: tensors that lie in `made` under their texts."""

    def __init__(self, shape, make, draw):
        self.shape, self.make, self.draw, self.made = tuple(shape), make, draw, {}

    def tensor(self, shape):
        name = "t%d" % len(self.made)
        self.made[name] = self.make(tuple(shape))
        return name

    weight = tensor

    def dim(self):
        return self.draw.randrange(1, len(self.shape))

    def number(self):
        return 0.5

    def size(self):
        return 6

    channels = size

    def sizes(self, shape):
        return repr(tuple(shape))


def public(module):
    for name in sorted(dir(module)):
        if not name.startswith("_") and not name.endswith("_"):
            yield name, getattr(module, name)


def schemas(name):
    """Of an operator the schemas of its overloads; None where it is no operator."""
    packet = getattr(torch.ops.aten, name, None)
    return [getattr(packet, o)._schema for o in packet.overloads()] if packet else None


def ways(name, f):
    """The forms to try: those that some overload takes, or all of a function in Python."""
    known = None if isinstance(f, types.FunctionType) else schemas(name.split(".")[1])
    return [form for form, (kinds, _) in arguments.FORMS.items()
            if known is None or any(arguments.fits(s, kinds) for s in known)]


def functions():
    """(name, function) for functions that compute. Of torch's own names only operators, or functions
    written in Python: others save files and set defaults."""
    for name, f in public(torch):
        if callable(f) and not isinstance(f, type) and (hasattr(torch.ops.aten, name)
                                                        or getattr(f, "__module__", "") == "torch.functional"):
            yield "torch." + name, f
    for name, f in public(torch.nn.functional):
        builtin = isinstance(f, types.BuiltinFunctionType)
        if callable(f) and not isinstance(f, type) and (builtin or getattr(f, "__module__", "") == "torch.nn.functional"):
            yield "F." + name, f


def classes():
    for name, kind in public(torch.nn):
        if isinstance(kind, type) and issubclass(kind, torch.nn.Module) and not issubclass(kind, LAZY):
            yield "nn." + name, kind


@contextlib.contextmanager
def quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def result_of(value):
    """(tensor, whether it is the first of several): the one floating-point result, or None."""
    several = isinstance(value, (tuple, list))
    found = value[0] if several and value else value
    if not isinstance(found, torch.Tensor) or not found.is_floating_point() or found.layout != torch.strided:
        return None, several
    return found, several


def usable(result, x, operands):
    """Whether it is a value of the batch that was computed: no operand, and no view of one."""
    if result.dim() < 2 or result.dim() > 5 or result.shape[0] != x.shape[0] or 0 in result.shape:
        return False
    own = result.untyped_storage()._cdata
    return all(t.untyped_storage()._cdata != own for t in operands)


def called(what, form, forms, x, make, draw):
    """The result of one way to call it on x, with its further operands."""
    ask = Ask(x.shape, make, draw)
    words = forms[form][1]("x", ask)
    with quiet(), torch.no_grad():
        value = eval("what(%s)" % ", ".join(words), {"what": what, "x": x, **ask.made})
    return value, [x] + list(ask.made.values())


def meta(shape):
    return torch.empty(shape, device="meta")


def works(what, form, forms, shape):
    """(it works on tensors without data, the first of several counts)."""
    try:
        value, operands = called(what, form, forms, meta(shape), meta, random.Random(1))
        result, several = result_of(value)
        return result is not None and usable(result, operands[0], operands), several
    except Exception:  # pylint: disable=broad-except
        return False, False


def on_numbers(what, form, forms, shape, values):
    """Results of the same call with two states of the generator, and of other numbers; None where it
    fails."""
    found = []
    for draws, state in ((0, 1), (0, 2), (7, 1)):
        seed_all(draws)
        x = DRAWS[values](shape)
        made = []

        def make(shape):
            made.append(DRAWS[values](shape))
            return made[-1]
        ask = Ask(x.shape, make, random.Random(1))
        words = forms[form][1]("x", ask)
        seed_all(state)
        try:
            with quiet(), torch.no_grad():
                value = eval("what(%s)" % ", ".join(words), {"what": what, "x": x, **ask.made})
        except Exception:  # pylint: disable=broad-except
            return None
        result = result_of(value)[0]
        if result is None or result.shape == x.shape and torch.equal(result, x):    # it changes nothing
            return None
        found.append(result)
    return found


def nature(seed, form, forms, shape, what):
    """Fills in the values that it wants and gives. False if it is random, or good for none."""
    for values in ("any", "positive", "unit", "above"):
        found = on_numbers(what, form, forms, shape, values)
        if found is None:
            return False
        one, two, other = found
        if not bool(torch.isfinite(one).all()):
            continue
        if not torch.equal(one, two) or torch.equal(one, other):      # random, or a constant
            return False
        seed.wants, seed.gives = values, "any"
        low, high = float(one.min()), float(one.max())
        if low > 1:
            seed.gives = "above"
        elif low > 1e-6:
            seed.gives = "unit" if high < 1 else "positive"
        return True
    return False


def function_seed(name, f):
    """Each form is tried in all numbers of dimensions without data, and in the first that it works in
    on numbers."""
    seed = Seed(name, "function", f, {})
    for form in ways(name, f):
        found = [(rank, works(f, form, arguments.FORMS, shape)) for rank, shape in SHAPES.items()]
        ranks = [rank for rank, (good, _) in found if good]
        before = seed.wants, seed.gives
        if ranks and nature(seed, form, arguments.FORMS, SHAPES[ranks[0]], f):
            if seed.forms:                       # all forms want and give the same as the first
                seed.wants = max(before[0], seed.wants, key=WIDTHS.index)
                seed.gives = min(before[1], seed.gives, key=WIDTHS.index)
            for rank in ranks:
                seed.forms.setdefault(rank, []).append(form)
            seed.first = seed.first or any(several for _, (good, several) in found if good)
        else:
            seed.wants, seed.gives = before
    return seed if seed.forms else None


def module_seed(name, kind):
    seed = Seed(name, "module", kind, {})
    for rank, shape in SHAPES.items():
        try:
            given = arguments.constructor(kind, shape, random.Random(1), plain=True)
            if given is None:
                return None
            with quiet(), torch.device("meta"):
                what = kind(**given)
        except Exception:  # pylint: disable=broad-except
            continue
        for call in arguments.CALLS:
            good, several = works(what, call, arguments.CALLS, shape)
            if not good:
                continue
            with quiet():
                seed_all(3)
                real = kind(**given)
            if nature(seed, call, arguments.CALLS, shape, real):
                seed.forms.setdefault(rank, []).append(call)
                seed.first = seed.first or several
                break
    if "batch_first" in {p.name for p in arguments.parameters(kind) or ()} and seed.forms:
        seed.forms = {max(seed.forms): seed.forms[max(seed.forms)]}    # of fewer dimensions it is one sequence, no batch
    return seed if seed.forms else None


def borrowed_seed(name, where):
    """The seed of a class of transformers. Its operands and results are found in the first number of dimensions."""
    calls = arguments.CALLS
    try:
        with quiet():
            found = borrowed.borrowed(name, where)
            ranks = list(borrowed.widths_of(found, lambda what, shape: works(what, "x", calls, shape)[0]))
            if not ranks:
                return None
            found.take_over()
            seed = Seed(name, "borrowed", found, {})
            what, shape = borrowed.small_of(found, ranks[0])
            _, seed.first = works(found.there, "x", calls, borrowed.operand(ranks[0], *found.places[ranks[0]]))
            if nature(seed, "x", calls, shape, what):
                seed.forms = {rank: ["x"] for rank in ranks}
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException:  # pylint: disable=broad-except
        return None                              # a library may raise anything; what it lacks is no Exception in transformers
    return seed if seed.forms else None


class Catalogue:
    """All names that may be seeds, each looked at when it is first asked for: a draw needs a few."""

    def __init__(self):
        self.what = {name: (module_seed, kind) for name, kind in classes()}
        self.what.update((name, (function_seed, f)) for name, f in functions())
        self.names = {}                          # by their first word: nn, torch, F
        for name in sorted(self.what):
            self.names.setdefault(name.split(".")[0], []).append(name)
        self.known = {}

    def borrow(self):
        """The names of transformers' classes too, where it is installed; reading them takes a second."""
        if borrowed.PACKAGE not in self.names and borrowed.here():
            found = borrowed.listed()
            self.what.update((name, (borrowed_seed, where)) for name, where in found.items())
            self.names[borrowed.PACKAGE] = sorted(found)

    def seed(self, name):
        """The seed of this name, or None where it is none."""
        if name not in self.known:
            make, what = self.what[name]
            state = torch.random.get_rng_state()
            self.known[name] = make(name, what)
            torch.random.set_rng_state(state)
        return self.known[name]

    def all(self, first=0, last=None):
        """The seeds among the names from the first to the last, in their order."""
        return [seed for seed in map(self.seed, sorted(self.what)[first:last]) if seed is not None]

    def draw(self, random_numbers, shares, without=(), only=()):
        """A drawn seed: one of the names `only`; where there are none, first the module, by its share, then one of its names."""
        if shares.get(borrowed.PACKAGE):
            self.borrow()
        words = sorted(word for word in shares if word in self.names)
        while True:
            word = None if only else random_numbers.choices(words, [shares[w] for w in words])[0]
            name = random_numbers.choice(only or self.names[word])
            seed = self.seed(name) if name not in without else None
            if seed is not None:
                return seed


def described(seed):
    about = {"name": seed.name, "kind": seed.kind, "wants": seed.wants, "gives": seed.gives,
             "forms": {str(rank): forms for rank, forms in seed.forms.items()}}
    if seed.kind == "borrowed":
        about["source"] = seed.what.alike()
    return about
