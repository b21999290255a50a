"""As much of the module torch as the workshop's tasks use, in plain Python: their task.py then runs where there is no PyTorch.

Values are Python's floats, float64, so that what forward returns is the reference. Inputs are rounded to their type when they are made.
"""
import array
import math
import operator
import random
import types

from cawb_host.base.fault import Fault

SIZES = {"float32": 4, "bfloat16": 2}


def rounded(values, dtype):
    """To the nearest value of a type."""
    values = array.array("f", values)
    if dtype == "bfloat16":
        words = array.array("I", values.tobytes())
        words = array.array("I", ((w + 0x7fff + (w >> 16 & 1)) & 0xffff0000 for w in words))
        values = array.array("f", words.tobytes())
    return values


def packed(values, dtype):
    """The bytes of values that the type holds."""
    if dtype == "bfloat16":
        return array.array("H", (w >> 16 for w in array.array("I", rounded(values, dtype).tobytes()))).tobytes()
    return rounded(values, dtype).tobytes()


def unpacked(data, dtype):
    if dtype == "bfloat16":
        return array.array("f", array.array("I", (h << 16 for h in array.array("H", data))).tobytes())
    return array.array("f", data)


class Tensor:
    """Numbers in the order of rows, of one or two dimensions."""

    def __init__(self, values, shape, dtype="float32"):
        self.values, self.shape, self.dtype = list(values), tuple(shape), dtype

    def like(self, values, shape=None):
        return Tensor(values, self.shape if shape is None else shape, self.dtype)

    def rows(self):
        cols = self.shape[-1]
        return [self.values[i:i + cols] for i in range(0, len(self.values), cols)]

    def with_other(self, other, how):
        if not isinstance(other, Tensor):
            return self.like(how(x, other) for x in self.values)
        if other.shape != self.shape:
            raise Fault("unsupported", "without PyTorch shapes have to be the same: %s and %s" % (self.shape, other.shape))
        return self.like(map(how, self.values, other.values))

    def __add__(self, other):
        return self.with_other(other, operator.add)

    def __sub__(self, other):
        return self.with_other(other, operator.sub)

    def __mul__(self, other):
        return self.with_other(other, operator.mul)

    def __truediv__(self, other):
        return self.with_other(other, operator.truediv)

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self):
        return self.like(-x for x in self.values)

    def __matmul__(self, other):
        columns = list(zip(*other.rows()))
        return self.like([sum(map(operator.mul, row, column)) for row in self.rows() for column in columns],
                         (self.shape[0], other.shape[1]))

    def t(self):
        return self.like((x for column in zip(*self.rows()) for x in column), self.shape[::-1])

    def contiguous(self):
        return self

    def flip(self, dim):
        return self.like(x for row in (self.rows() if dim == 1 else self.rows()[::-1]) for x in (row[::-1] if dim == 1 else row))

    def sum(self, dim):
        return self.like([math.fsum(row) for row in (self.rows() if dim in (1, -1) else zip(*self.rows()))],
                         (self.shape[0 if dim in (1, -1) else 1],))

    def diagonal(self):
        return self.like([row[i] for i, row in enumerate(self.rows()) if i < len(row)], (min(self.shape),))

    def bfloat16(self):
        return Tensor(rounded(self.values, "bfloat16"), self.shape, "bfloat16")

    def __getattr__(self, name):
        raise lacking(name, "a tensor", ["bfloat16", "contiguous", "diagonal", "flip", "sum", "t"])


def lacking(name, owner, known):
    if name.startswith("__"):
        return AttributeError(name)
    return Fault("unsupported", "without PyTorch %s has no '%s', it has %s: write the task with these, or judge where PyTorch is" % (
        owner, name, ", ".join(sorted(known))))


def each(function):
    return lambda x: x.like(map(function, x.values))


# By their names in torch.
ELEMENTWISE = {"abs": abs, "exp": math.exp, "relu": lambda x: max(x, 0.0), "sqrt": math.sqrt, "tanh": math.tanh}


def softmax(x, dim):
    if dim not in (-1, len(x.shape) - 1):
        raise Fault("unsupported", "without PyTorch softmax is along the last dimension")
    values = []
    for row in x.rows():
        top = max(row)
        powers = [math.exp(v - top) for v in row]
        total = math.fsum(powers)
        values += [p / total for p in powers]
    return x.like(values)


class Module:
    def __call__(self, *inputs):
        return self.forward(*inputs)


def module(seed):
    """A module that stands for torch, and its torch.nn; inputs follow from the seed."""
    draw = random.Random(seed)

    def randn(*shape):
        return Tensor(rounded((draw.gauss(0, 1) for _ in range(math.prod(shape))), "float32"), shape)

    torch = types.ModuleType("torch")
    torch.Tensor, torch.softmax, torch.randn = Tensor, softmax, randn
    vars(torch).update((name, each(function)) for name, function in ELEMENTWISE.items())
    torch.nn = types.ModuleType("torch.nn")
    torch.__getattr__ = lambda name: (_ for _ in ()).throw(lacking(name, "torch", ["softmax", "randn", *ELEMENTWISE]))
    torch.nn.Module = Module
    return {"torch": torch, "torch.nn": torch.nn}
