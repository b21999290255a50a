"""Numbers that a forward takes by `.item()` from an element of a parameter or buffer.

Such a number is another one for other weights. It is known by its place as long as it goes into operators as it is; an
entry's argument then says the place instead of the number. Where Python computes with it or compares it, `used` is told:
a record does not show this. What takes the number in C alone, as math.sqrt does, is not seen.

A number of any other tensor follows from inputs. Exported programs compare some, and claim by aten's _assert_scalar that these are as
they should be, which does not change what is computed. Where a function makes such claims, a number is only asked for when it is used.
"""
import operator
import sys

import torch
from torch._subclasses.fake_tensor import DataDependentOutputException
from torch.overrides import TorchFunctionMode

from cawb_host.torch import operators

FREE = 0.6180339887498949       # multiples of it, less their whole parts, are far from one another


class Number(float):
    """The number in a tensor."""

    def __new__(cls, value, tensor, place, used):
        made = super().__new__(cls, value)
        made.tensor, made.place, made.used = tensor, place, used
        return made


def noted(name):
    def method(self, *others):
        self.used(self)
        return getattr(float, name)(self, *others)
    return method


for _name in ("eq ne lt le gt ge add radd sub rsub mul rmul truediv rtruediv floordiv rfloordiv mod rmod divmod rdivmod pow rpow neg "
              "pos abs bool int float round trunc floor ceil hash str repr format").split():
    setattr(Number, "__%s__" % _name, noted("__%s__" % _name))

class Asked:
    """A number that follows from inputs: its tensor, its value where there is data, and whom to tell when it is used."""

    def __init__(self, tensor, call, used):
        self.tensor, self.used = tensor, used
        self.call = call
        try:
            value = call()
            self.call = lambda: value
        except DataDependentOutputException:
            pass

    def resolve(self):
        self.used(self)
        return self.call()

    @property
    def __class__(self):
        return type(self.resolve())


class Claim:
    """How such a number compares."""

    __class__ = bool                    # PyTorch looks at it ahead of a call

    def __init__(self, number, compare):
        self.number, self.compare = number, compare

    def holds(self):
        """Whether it does; without data it is taken to."""
        try:
            return self.compare(self.number.call())
        except DataDependentOutputException:
            return True

    def resolve(self):
        return self.compare(self.number.resolve())


CLAIMS = getattr(torch.ops.aten, "_assert_scalar").default


def claimed():
    """Whether the function that asks for a number makes such claims."""
    return CLAIMS.name().split("::")[-1] in sys._getframe(2).f_code.co_names


def resolved(value):
    if type(value) in (Asked, Claim):
        return value.resolve()
    if type(value) in (tuple, list):
        return type(value)(resolved(item) for item in value)
    return value


def using(name):
    return lambda self, *others: getattr(operator, name)(self.resolve(), *map(resolved, others))


def used_by(name):
    return lambda self, other: getattr(operator, name)(other, self.resolve())


def comparing(name):
    return lambda self, other: Claim(self, lambda value: getattr(operator, name)(value, resolved(other)))


for _name in "add sub mul truediv floordiv mod pow neg pos abs and_ or_ xor invert lshift rshift index".split():
    for _kind in (Asked, Claim):
        setattr(_kind, "__%s__" % _name.strip("_"), using(_name))
        setattr(_kind, "__r%s__" % _name.strip("_"), used_by(_name))
for _kind in (Asked, Claim):
    for _function in (bool, int, float, round, hash, str, repr, divmod, format):
        setattr(_kind, "__%s__" % _function.__name__, lambda self, *others, f=_function: f(self.resolve(), *others))
for _name in "eq ne lt le gt ge".split():
    setattr(Asked, "__%s__" % _name, comparing(_name))
    setattr(Claim, "__%s__" % _name, using(_name))

ASKS = getattr(torch.ops.aten, "_local_scalar_dense").default    # what .item() is recorded as

# Functions that make a constant of a number.
MAKERS = {torch.tensor, torch.as_tensor, torch.scalar_tensor}


def numbers_in(value):
    if isinstance(value, Number):
        yield value
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from numbers_in(item)


def bare(value):
    """An argument with plain numbers."""
    if isinstance(value, Number):
        return float.__add__(value, 0.0)
    if type(value) in (tuple, list) and any(True for _ in numbers_in(value)):
        return type(value)(bare(item) for item in value)
    return value


class Taken(TorchFunctionMode):
    """Hands out numbers, and knows those of the call that is going on: `given`, places by their values. `place(tensor)`: where
    a tensor's number lies, None where it is not to be handed out; `follows(tensor)`: whether its number follows from inputs; `unseen(call)`: what `call` returns, without a record; `used(number)`: Python computes with
    the number."""

    def __init__(self, place, follows, unseen, used):
        super().__init__()
        self.place, self.follows, self.unseen, self.used = place, follows, unseen, used
        self.given, self.made = {}, 0

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if func is CLAIMS and type(args[0]) is Claim:
            if not args[0].holds():
                raise RuntimeError(args[1])
            return None
        args, kwargs = resolved(args), {name: resolved(value) for name, value in kwargs.items()}
        if operators.find(getattr(func, "__name__", "").split(".")[0]).number:
            place = self.place(args[0])
            if place:
                return Number(self.value(args[0]), args[0], place, self.used)
            if claimed() and self.follows(args[0]):
                return Asked(args[0], lambda: self.unseen(args[0].item), self.used)
        known = [*numbers_in(args), *numbers_in(tuple(kwargs.values()))]
        if not known:
            return func(*args, **kwargs)
        return self.call(func, args, kwargs, known)

    def call(self, func, args, kwargs, known):
        before, self.given = self.given, {}
        for number in known:
            value = bare(number)
            if func in MAKERS or self.given.get(value, number.place) != number.place:
                self.used(number)
            self.given[value] = number.place
        try:
            return func(*bare(args), **{name: bare(value) for name, value in kwargs.items()})
        finally:
            self.given = before

    def value(self, tensor):
        """The number; one of its own where a tensor has no data."""
        try:
            return self.unseen(tensor.item)
        except DataDependentOutputException:
            self.made += 1
            return 0.1 + 0.8 * (FREE * self.made % 1)
