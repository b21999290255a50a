"""Tensors whose numbers follow from constants that forward makes: from no input, parameter, buffer or random number. What the
program does with such numbers is the same in every call, so a record may go by them: a mask that is an index, a count that is a
size, a number that is asked for.

Where tensors have no data, operators on constants are executed once more, on tensors of their own that have.
"""
import torch
from torch._subclasses.fake_tensor import FakeTensor, unset_fake_temporarily

MOST = 1 << 20                     # elements of a constant that is followed

ATEN = torch.ops.aten
INDEXED = {ATEN.index.Tensor, ATEN.index_put.default, ATEN.index_put_.default, getattr(ATEN, "_index_put_impl_").default,
           getattr(ATEN, "_unsafe_index").Tensor}


def tensors_in(value):
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from tensors_in(item)


def mapped(value, change):
    if isinstance(value, torch.Tensor):
        return change(value)
    if isinstance(value, (tuple, list)):
        return type(value)(mapped(item, change) for item in value)
    return value


def address(tensor):
    return tensor.untyped_storage()._cdata


class Constants:
    """`seen(tensor)`: whether an operator, a parameter or an input made a tensor; others are constants of the program."""

    def __init__(self, seen):
        self.seen = seen
        self.real = {}             # by memory: all of it, with data
        self.kept = []             # so that no other memory has the address

    def value(self, tensor):
        """The tensor with its numbers; None where they do not follow from constants."""
        if address(tensor) not in self.real and not self.seen(tensor):
            with unset_fake_temporarily():
                real = tensor.constant if isinstance(tensor, FakeTensor) else tensor
                self.keep(tensor, real)
        whole = self.real.get(address(tensor))
        if whole is None or not isinstance(tensor, FakeTensor):
            return whole if whole is None else tensor
        with unset_fake_temporarily():
            return torch.empty(0, dtype=tensor.dtype).set_(whole, tensor.storage_offset(), tensor.shape, tensor.stride())

    def keep(self, tensor, real):
        """`real` has the numbers of all of a tensor's memory."""
        if real is None or tensor.numel() > MOST or isinstance(real, FakeTensor):
            return
        alike = real.dtype == tensor.dtype and real.stride() == tensor.stride() and real.storage_offset() == tensor.storage_offset()
        if alike and tensor.layout == torch.strided:
            self.kept.append(tensor.untyped_storage())
            self.real[address(tensor)] = real.untyped_storage()

    def follow(self, func, args, kwargs):
        """Whether what an operator makes follows from constants alone."""
        return torch.Tag.nondeterministic_seeded not in func.tags \
            and all(self.value(tensor) is not None for tensor in tensors_in([*args, *kwargs.values()]))

    def made(self, func, args, kwargs):
        """What an operator makes of the numbers."""
        kwargs = {name: mapped(value, self.value) for name, value in kwargs.items()}
        if kwargs.get("device") is not None:
            kwargs["device"] = torch.device("cpu")
        args = mapped(args, self.value)
        with unset_fake_temporarily():
            return func(*args, **kwargs)

    def note(self, func, args, kwargs, outputs, known, made=None):
        """Behind an operator. `made`: what it makes of the numbers, where that is known already."""
        if not known:
            for tensor in outputs if func._schema.is_mutable else ():
                self.real.pop(address(tensor), None)
            return
        if any(isinstance(tensor, FakeTensor) for tensor in outputs) and made is None:
            if any(tensor.numel() > MOST for tensor in outputs):
                return self.note(func, args, kwargs, outputs, False)
            made = self.made(func, args, kwargs)
        for tensor, real in zip(outputs, tensors_in(outputs if made is None else made)):
            if address(tensor) not in self.real:
                self.keep(tensor, real)

    def needed(self, func):
        """Whether an operator's result is a number for the program, or its shape follows from numbers."""
        return func not in INDEXED and any(tag in func.tags for tag in (torch.Tag.data_dependent_output, torch.Tag.dynamic_output_shape))

    def answer(self, func, args, kwargs, call):
        """What such an operator makes, and its numbers."""
        inputs = list(tensors_in([*args, *kwargs.values()]))
        if not any(isinstance(tensor, FakeTensor) for tensor in inputs):
            result = call()
            return result, result
        made = self.made(func, args, kwargs)
        return mapped(made, lambda real: self.like(real, inputs)), made

    def like(self, real, tensors):
        """A tensor of these numbers beside `tensors`, which may have no data."""
        fake = next((t for t in tensors if isinstance(t, FakeTensor)), None)
        if fake is None:
            return real
        made = fake.fake_mode.from_tensor(real)
        made.constant = real
        return made

    def without_masks(self, func, args):
        """An index with numbers in place of masks that follow from constants: (operator, arguments)."""
        if func is ATEN.masked_select.default and args[0].shape == args[1].shape and self.value(args[1]) is not None:
            func, args = ATEN.index.Tensor, (args[0], [args[1]])
        if func not in INDEXED:
            return func, args
        indices = []
        for item in args[1]:
            mask = self.value(item) if item is not None and item.dtype in (torch.bool, torch.uint8) else None
            indices += [item] if mask is None else self.places(mask, list(tensors_in(args)))
        return func, (args[0], indices, *args[2:])

    def places(self, mask, tensors):
        with unset_fake_temporarily():
            found = [place.clone() for place in mask.nonzero(as_tuple=True)]      # each has a memory of its own
        return [self.like(place, tensors) for place in found]
