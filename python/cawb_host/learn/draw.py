"""Compositions of operators, drawn: chains, and graphs with residuals, gates and several inputs.

A step draws an operator and its arguments by shape rules, and is tried on tensors without data; one
that does not fit is drawn again. The same number gives the same program on the same PyTorch.
"""
import random

from cawb_host.learn import arguments
from cawb_host.learn.borrowed import WHERE
from cawb_host.learn.catalogue import SERVES
from cawb_host.learn.program import Program, Refused

FEATURES = (256, 384, 512, 768, 1000, 1024, 1536, 2048, 3072, 4096, 8192)
LENGTHS = (64, 100, 128, 196, 256, 384, 512, 1024)
CHANNELS = (3, 8, 16, 24, 32, 48, 64, 96, 128)
SIDES = (14, 16, 28, 32, 48, 56, 64, 96, 112, 128, 224)
DEPTHS = (8, 12, 16, 24, 32)
NAMED = ("out_features", "out_channels", "hidden_size")       # drawn sizes that the file names
TRIES = 80                                                    # steps that are drawn for one program
EARLIER, INPUT = 0.55, 0.6     # a further operand: an earlier value where there is one; else an input, or a weight
BRANCH = 0.2                   # how often a step begins beside the last value, to be joined with it


def distinct(draw, *lists):
    """One of each list, no number twice where that can be."""
    found = []
    for choices in lists:
        left = [n for n in choices if n not in found] or list(choices)
        found.append(draw.choice(left))
    return found


def first_sizes(draw, rank):
    """Names and values of an input's dimensions but the batch's."""
    if rank == 2:
        return dict(zip(("features",), distinct(draw, FEATURES)))
    if rank == 3:
        return dict(zip(("length", "features"), distinct(draw, LENGTHS, FEATURES)))
    if rank == 4:
        side = draw.choice(SIDES)
        width = side if draw.random() < 0.5 else draw.choice(SIDES)
        return {"channels": draw.choice(CHANNELS), "height": side, "width": width}
    channels, depth, height, width = distinct(draw, CHANNELS[:6], DEPTHS, SIDES[:8], SIDES[:8])
    return {"channels": channels, "depth": depth, "height": height, "width": width}


class Asked:
    """What a form asks for, taken from a program."""

    def __init__(self, program, seed, value, draw, join):
        self.program, self.seed, self.value, self.random, self.join = program, seed, value, draw, join
        self.shape = value.shape
        self.operands, self.joined = [value], False

    def tensor(self, shape):
        program, shape = self.program, tuple(shape)
        if self.join is not None and not self.joined and self.join.shape == shape:
            self.joined = True
            return self.take(self.join)
        alike = [v for v in program.values if v is not self.value and v.shape == shape
                 and self.seed.wants in SERVES[v.gives]]
        if alike and self.random.random() < EARLIER:
            return self.take(self.random.choice(alike))
        if self.random.random() < INPUT or self.seed.wants != "any" or shape != self.shape:
            return self.take(program.add_input(shape[1:], self.seed.wants))
        return program.add_weight(shape[1:])

    def take(self, value):
        self.operands.append(value)
        return value.name

    def weight(self, shape):
        return self.program.add_weight(shape)

    def dim(self):
        return self.random.randrange(1, len(self.shape))

    def number(self):
        return self.random.choice((0.1, 0.25, 0.5, 0.75, 1.5))

    def size(self):
        n = self.random.choice(arguments.HIDDEN)
        self.program.new_size("out_features", n)
        return n

    def channels(self):
        n = self.random.choice(arguments.CHANNELS)
        self.program.new_size("out_channels", n)
        return n

    def sizes(self, shape):
        return "(%s,)" % self.program.dims(shape)


def words_of(program, given):
    """A constructor's arguments as text, sizes by their names."""
    words = []
    for name, value in given.items():
        if name in NAMED:
            words.append((name, program.new_size(name, value)))
        elif isinstance(value, int) and not isinstance(value, bool):
            words.append((name, program.size_text(value)))
        else:
            words.append((name, repr(value)))
    return words


def borrowed(program, what, value):
    """A module of a class that is taken over, as wide as the value."""
    where, was = what.places[len(value.shape)]
    try:
        return program.add_borrowed(what, value.shape[WHERE[where](len(value.shape))], was)
    except Refused:
        raise
    except Exception as error:  # pylint: disable=broad-except
        raise Refused(str(error)) from None


def step(program, seed, value, draw, join=None):
    """One operator more on a value; with `join` it is to take that value, too."""
    if seed.wants not in SERVES[value.gives]:
        raise Refused("its values do not serve")
    ways = seed.forms.get(len(value.shape), [])
    if join is not None:
        ways = [form for form in ways if form in arguments.BINARY]
    if not ways:
        raise Refused("no form")
    form = draw.choice(ways)
    asked = Asked(program, seed, value, draw, join)
    if seed.kind == "borrowed":
        called, parts = borrowed(program, seed.what, value), [value.name]
    elif seed.kind == "module":
        given = arguments.constructor(seed.what, value.shape, draw)
        if given is None:
            raise Refused("a parameter without a rule")
        try:
            called = program.add_module(seed, given, words_of(program, given))
        except Refused:
            raise
        except Exception as error:  # pylint: disable=broad-except
            raise Refused(str(error)) from None
        parts = arguments.CALLS[form][1](value.name, asked)
    else:
        called, parts = seed.name, arguments.FORMS[form][1](value.name, asked)
    if join is not None and not asked.joined:
        raise Refused("the other value is left over")
    return program.add_step("%s(%s)" % (called, ", ".join(parts)), seed, asked.operands)


class Drawing:
    def __init__(self, catalogue, number, counts, shares, ranks, without=(), only=()):
        self.catalogue, self.shares, self.without, self.random = catalogue, shares, frozenset(without), random.Random(number)
        self.only = only
        self.count = int(self.weighted(counts))
        self.rank = int(self.weighted(ranks))
        self.program = Program(first_sizes(self.random, self.rank))
        self.refused = 0
        self.join = None

    def weighted(self, weights):
        keys = sorted(weights)
        return self.random.choices(keys, [weights[k] for k in keys])[0]

    def start(self):
        """The operand of the next step: the last value, or another value that is joined with it afterwards."""
        values = self.program.values
        if self.join is None and len(values) > 1 and self.count - len(self.program.steps) >= 2 and self.random.random() < BRANCH:
            return self.random.choice(values[:-1]), values[-1]
        return values[-1], None

    def one(self):
        """A step, or nothing where it is refused."""
        seed, mark, join = self.catalogue.draw(self.random, self.shares, self.without, self.only), self.program.mark(), self.join
        try:
            if not self.program.values:
                self.program.add_input(list(self.program.sizes.values()), seed.wants)
            value, later = self.start()
            made = step(self.program, seed, value, self.random, join)
            if later is not None and made.shape != later.shape:
                raise Refused("it cannot be joined")
            self.join = later
        except Refused:
            self.program.undo(mark)
            self.refused += 1

    def make(self):
        """The program, or None where so many draws do not make one."""
        while len(self.program.steps) < self.count:
            if self.refused > TRIES:
                return None
            self.one()
        return self.program


def draw(catalogue, number, counts, shares, ranks, without=(), only=()):
    """(program or None, steps refused) for a number."""
    drawing = Drawing(catalogue, number, counts, shares, ranks, without, only)
    return drawing.make(), drawing.refused
