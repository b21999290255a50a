"""get_inputs() that seeds a generator itself would make the same inputs for ever. While it runs,
every seed that it gives is mixed with the secret one: what it draws is as it wants it, and new."""
import contextlib
import hashlib
import random
import sys

import torch


def mixed(secret, given):
    """A seed from both."""
    text = "%d %r" % (secret, given)
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=7).digest(), "little")


class Reseeded:
    """Functions that take a seed, replaced in their modules and in the task's; `used` says that
    one was called."""

    def __init__(self, secret, module):
        self.secret, self.module, self.used = secret, module, False
        self.kept = []

    def seeded(self, function, most=1 << 56):
        def call(seed=None, *args, **kwargs):
            self.used = True
            return function(mixed(self.secret, seed) % most, *args, **kwargs)
        return call

    def generator(self):
        of = self

        class Generator(torch.Generator):
            def manual_seed(self, seed):
                of.used = True
                return super().manual_seed(mixed(of.secret, seed))
        Generator.__name__ = "Generator"
        return Generator

    def places(self):
        """(owner, name, what stands there meanwhile)"""
        yield torch, "manual_seed", self.seeded(torch.manual_seed)
        yield torch.random, "manual_seed", self.seeded(torch.random.manual_seed)
        yield torch, "Generator", self.generator()
        yield random, "seed", self.seeded(random.seed)
        yield random, "Random", self.seeded(random.Random)
        numpy = sys.modules.get("numpy")
        if numpy is not None:
            for name in ("seed", "default_rng", "RandomState"):
                yield numpy.random, name, self.seeded(getattr(numpy.random, name), 1 << 32)

    def put(self, owner, name, value):
        self.kept.append((owner, name, getattr(owner, name)))
        setattr(owner, name, value)

    def __enter__(self):
        for owner, name, value in list(self.places()):
            before = getattr(owner, name)
            self.put(owner, name, value)
            for own, found in list(vars(self.module).items()):
                if found is before:
                    self.put(self.module, own, value)
        return self

    def __exit__(self, *_):
        for owner, name, value in reversed(self.kept):
            setattr(owner, name, value)


SIGNS = ("seed", "default_rng", "RandomState", "Random(")


def reseeded(secret, task):
    """Only where the file has a word of it: these are other people's modules."""
    if secret is None or not any(sign in task.source for sign in SIGNS):
        return contextlib.nullcontext()
    return Reseeded(secret, task.module)
