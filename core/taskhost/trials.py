"""What is kept per secret seed: inputs, eager outputs, references.

These are private copies: nothing that the worker can write to. References
are computed on first use. The most recent seeds stay, up to a count and a
number of bytes; a seed that comes back costs nothing.
"""
import collections

from reference import Expected
from tensors import Layout, describe, dtype_name, leaves, shape_of

KEPT_SEEDS = 8
KEPT_BYTES = 2 << 30


class Trial:
    def __init__(self, runner, seed):
        self.runner, self.seed = runner, seed
        self.inputs = runner.inputs(seed)
        layout = Layout()
        with runner.task.located("get_inputs"):
            self.specs = [describe(x, layout, "input %d" % (i + 1))
                          for i, x in enumerate(self.inputs)]
        self.share_size = layout.size
        self.precision = None
        self._expected = None

    def leaves(self):
        for x, spec in zip(self.inputs, self.specs):
            yield from leaves(x, spec)

    def expected(self):
        """One Expected per output; made once."""
        if self._expected is None:
            eager = self.runner.forward(self.inputs, self.seed)
            wide = self.runner.forward_wide(self.inputs, self.seed)
            self.precision = "float64" if wide else precision(eager)
            self._expected = [Expected(w, e) for (_, w), (_, e) in zip(wide or eager, eager)]
        return self._expected

    def bytes(self):
        kept = sum(t.numel() * t.element_size() for t, _ in self.leaves())
        return kept + sum(e.bytes() for e in self._expected or ())

    def shapes(self):
        return [shape_of(s) for s in self.specs]


def precision(outputs):
    """What a reference is good to where float64 was impossible."""
    floats = [t for _, t in outputs if t.is_floating_point()]
    return dtype_name((floats or [outputs[0][1]])[0], "output 1")


class Trials:
    def __init__(self, runner):
        self.runner = runner
        self.kept = collections.OrderedDict()

    def get(self, seed):
        """The trial of a seed, now the most recent one."""
        trial = self.kept.get(seed) or Trial(self.runner, seed)
        self.kept[seed] = trial
        self.kept.move_to_end(seed)
        self.trim()
        return trial

    def trim(self):
        """Drop the oldest beyond the limits; the newest always stays."""
        while len(self.kept) > 1 and (len(self.kept) > KEPT_SEEDS or
                                      sum(t.bytes() for t in self.kept.values()) > KEPT_BYTES):
            self.kept.popitem(last=False)

    def clear(self):
        self.kept.clear()
