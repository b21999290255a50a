"""Numbers that a forward takes by `.item()` from an element of a parameter or buffer.

Such a number is another one for other weights. It is known by its place as long as it goes into operators as it is; an
entry's argument then says the place instead of the number. Where Python computes with it or compares it, `used` is told:
a record does not show this. What takes the number in C alone, as math.sqrt does, is not seen.
"""
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
    a tensor's number lies, None where it is not to be handed out; `unseen(call)`: what `call` returns, without a record; `used(number)`: Python computes with
    the number."""

    def __init__(self, place, unseen, used):
        super().__init__()
        self.place, self.unseen, self.used = place, unseen, used
        self.given, self.made = {}, 0

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        name = getattr(func, "__name__", "").split(".")[0]
        place = self.place(args[0]) if operators.find(name).number else None
        if place:
            return Number(self.value(args[0]), args[0], place, self.used)
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
