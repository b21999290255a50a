"""A composition under construction: sizes, inputs, weights and steps, and the file that it becomes.

Each value is held as two tensors without data, of two sizes of the batch. A step that mixes the batch with a fixed size
works for one of them at most, and is refused while it is drawn.
"""
import re

import torch
import torch.nn.functional as F

from cawb_host.learn.arguments import Refused
from cawb_host.learn.catalogue import quiet, result_of, usable

BATCHES = (16, 24)
LARGEST = 1 << 27         # elements that a value may have for each item of the batch
INPUTS = ("x", "y", "z", "w", "u", "v")
DRAWN = {"any": "torch.randn(%s)", "positive": "torch.rand(%s) + 0.5", "unit": "torch.rand(%s) * 0.98 + 0.01",
         "above": "torch.rand(%s) * 3 + 1.01"}
HEAD = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n"


def mentions(lines, name):
    return any(re.search(r"\b%s\b" % name, line) for line in lines)


class Value:
    def __init__(self, name, tensors, gives):
        self.name, self.tensors, self.gives = name, tensors, gives
        self.shape = tuple(tensors[0].shape)


class Program:
    def __init__(self, sizes):
        self.sizes = dict(sizes)                 # module-level constants but the batch, in order
        self.inputs, self.values, self.steps = [], [], []
        self.attributes, self.modules = [], {}   # lines of __init__; name -> module on meta
        self.ops = []
        self.borrowed = {}                       # classes that were taken over, by their names

    # The additions of a step; undone if the step is refused.

    def mark(self):
        return (dict(self.sizes), list(self.inputs), list(self.values), list(self.steps), list(self.attributes),
                dict(self.modules), list(self.ops), dict(self.borrowed))

    def undo(self, mark):
        (self.sizes, self.inputs, self.values, self.steps, self.attributes, self.modules, self.ops, self.borrowed) = mark

    def size_text(self, n):
        """A number, by the name of the size that has it."""
        for name, value in self.sizes.items():
            if value == n and n > 7:
                return name
        return repr(n)

    def dims(self, shape):
        return ", ".join(self.size_text(n) for n in shape)

    def new_size(self, name, n):
        """A module-level constant for a size that was drawn."""
        if self.size_text(n) == repr(n):
            while name in self.sizes:
                name = re.sub(r"_?(\d*)$", lambda m: "_%d" % (int(m.group(1) or 1) + 1), name, count=1)
            self.sizes[name] = n
        return self.size_text(n)

    def add_input(self, rest, values):
        if len(self.inputs) == len(INPUTS):
            raise Refused("too many inputs")
        name = INPUTS[len(self.inputs)]
        named = {n: name for name, n in reversed(self.sizes.items())}
        text = DRAWN[values] % ", ".join(["batch_size"] + [named.get(n, repr(n)) for n in rest])
        self.inputs.append((name, text))
        tensors = [torch.empty((b,) + tuple(rest), device="meta") for b in BATCHES]
        self.values.append(Value(name, tensors, values))
        return self.values[-1]

    def add_weight(self, shape):
        name = "weight" if "weight" not in self.modules else "weight_%d" % (len(self.modules) + 1)
        fan = 1
        for n in shape[1:]:
            fan *= n
        scale = "" if len(shape) < 2 else " * %.3g" % fan ** -0.5
        text = self.dims(shape) + ("," if len(shape) == 1 else "")
        self.attributes.append("self.%s = nn.Parameter(torch.randn(%s)%s)" % (name, text.rstrip(","), scale))
        self.modules[name] = torch.empty(tuple(shape), device="meta")
        return "self." + name

    def add_module(self, seed, given, words):
        name = self.attribute(seed.what.__name__)
        with quiet(), torch.device("meta"):
            self.modules[name] = seed.what(**given)
        self.attributes.append("self.%s = %s(%s)" % (name, seed.name, ", ".join("%s=%s" % w for w in words)))
        return "self." + name

    def attribute(self, kind):
        base = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", kind).lower()
        name = base
        while name in self.modules:
            name = "%s_%d" % (base, sum(key.startswith(base) for key in self.modules) + 1)
        return name

    def definitions(self):
        """The text of code that was taken over, by name."""
        return {name: text for what in self.borrowed.values() for name, text in what.texts.items()}

    def add_borrowed(self, what, width, was):
        """A module of a class that is taken over, for an operand of this width."""
        known = self.definitions()
        if any(known.get(name, text) != text for name, text in what.texts.items()):
            raise Refused("another definition of the same name")
        name = self.attribute(what.kind.__name__)
        with quiet(), torch.device("meta"):
            self.modules[name] = what.module(width, was)
        self.borrowed[what.name] = what
        self.attributes.append("self.%s = %s" % (name, what.words(width, was, self.setting)))
        return "self." + name

    def setting(self, name, n):
        """A class's setting: large ones are sizes of the file."""
        return self.new_size(name, n) if n >= 32 else self.size_text(n)

    def run(self, text, which):
        env = {v.name: v.tensors[which] for v in self.values}
        env.update(torch=torch, F=F, self=type("Holder", (), dict(self.modules)))
        with quiet(), torch.no_grad():
            return eval(text, env)

    def add_step(self, text, seed, operands):
        """A value more, which `text` computes; Refused where it is none for both batches."""
        found = []
        for which in range(len(BATCHES)):
            try:
                result, several = result_of(self.run(text, which))
            except Exception as error:  # pylint: disable=broad-except
                raise Refused(str(error)) from None
            given = [v.tensors[which] for v in operands]
            if result is None or not usable(result, given[0], given):
                raise Refused("no value of the batch")
            found.append(result)
        one, two = found
        if one.shape[1:] != two.shape[1:] or one.numel() > LARGEST * BATCHES[0] or one.dtype != torch.float32:
            raise Refused("it mixes the batch with a fixed size, or is too large")
        name = "v%d" % (len(self.steps) + 1)
        self.steps.append((name, text + ("[0]" if several else "")))
        self.values.append(Value(name, found, seed.gives))
        self.ops.append(seed.name)
        return self.values[-1]

    def head(self):
        """Imports, and code taken over, with its notices."""
        if not self.borrowed:
            return HEAD
        known = self.definitions()
        lines = "".join(text + "\n" for text in sorted(known.values()) if text.startswith(("import ", "from ")))
        notices = "\n\n".join(dict.fromkeys(notice for what in self.borrowed.values() for notice in what.notices))
        texts = [text for text in known.values() if not text.startswith(("import ", "from "))]
        return "%sfrom types import SimpleNamespace\n%s\n%s\n\n\n%s\n" % (HEAD, lines, notices, "\n\n\n".join(texts))

    def text(self, batch="BATCH"):
        """The file, in KernelBench's form. The batch is to be filled in."""
        used = [n for n in self.sizes if mentions(self.attributes, n)]
        body = "\n".join("        " + line for line in self.attributes)
        steps = list(self.steps)
        result = steps.pop()[1]
        forward = "".join("        %s = %s\n" % step for step in steps) + "        return %s\n" % result
        lines = self.attributes + [line for pair in self.inputs + self.steps for line in pair]
        sizes = "batch_size = %s\n" % batch + "".join("%s = %r\n" % item for item in self.sizes.items()
                                                      if mentions(lines, item[0]))
        arguments = "".join(", " + n for n in used)
        return ("%s\n\nclass Model(nn.Module):\n    \"\"\"%s\"\"\"\n\n    def __init__(self%s):\n        super().__init__()\n%s\n"
                "    def forward(self, %s):\n%s\n\n%s\n\ndef get_inputs():\n    return [%s]\n\n\n"
                "def get_init_inputs():\n    return [%s]\n") % (
                    self.head(), ", ".join(self.ops), arguments, body + "\n" if body else "",
                    ", ".join(name for name, _ in self.inputs), forward, sizes,
                    ", ".join(text for _, text in self.inputs), ", ".join(used))
