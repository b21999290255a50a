# What a task that cawb.judge wrote consists of, besides the names in it: this text is put in front of them.
import array
import base64
import copy
import importlib
import importlib.abc
import sys

import torch


class Sources(importlib.abc.MetaPathFinder, importlib.abc.ExecutionLoader):
    """Imports modules from texts: {name: (file, is a package, text)}. The task runs where the user's files are not."""

    def __init__(self, modules):
        self.modules = modules

    def find_spec(self, name, path=None, target=None):
        return importlib.util.spec_from_loader(name, self) if name in self.modules else None

    def get_filename(self, name):
        return self.modules[name][0]

    def is_package(self, name):
        return self.modules[name][1]

    def get_source(self, name):
        return self.modules[name][2]


def named(module, name):
    value = importlib.import_module(module)
    for part in name.split("."):
        value = getattr(value, part)
    return value


def like(dtype, shape, floating, numbers, grad=False):
    """A new tensor whose numbers are drawn like these: fractions between neighbours of a sorted sample, others from it."""
    dtype = getattr(torch, dtype)
    known = array.array("d" if floating else "q", base64.b64decode(numbers))
    known = torch.tensor(known.tolist(), dtype=torch.float64 if floating else torch.int64)
    if known.numel() == 0:
        return torch.zeros(shape, dtype=dtype)
    whole = list(shape) + [2] if dtype.is_complex else shape
    if floating and bool(torch.isfinite(known).all()):
        place = torch.rand(whole, dtype=torch.float64) * (known.numel() - 1)
        known = known.sort().values.to(place.device)
        low = place.floor().long()
        drawn = torch.lerp(known[low], known[(low + 1).clamp_(max=known.numel() - 1)], place - low)
    else:
        at = torch.randint(known.numel(), whole)
        drawn = known.to(at.device)[at]
    drawn = torch.view_as_complex(drawn.contiguous()).to(dtype) if dtype.is_complex else drawn.to(dtype)
    return drawn.requires_grad_() if grad else drawn


def made(make, takes_seed):
    """What the user's function makes for a secret seed, as a list, or a dict of keyword arguments."""
    value = make(int(torch.randint(1 << 31, (), device="cpu"))) if takes_seed else make()
    return value if isinstance(value, (list, dict)) else list(value) if isinstance(value, tuple) else [value]
