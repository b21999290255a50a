"""Seeds from transformers, where it is installed: each of its modules' classes whose forward needs one
tensor, made of its model's own default settings and tried on tensors without data.

No weights are read and no network is asked. The settings that a class looks at are recorded while it is made
and run; one of them is the width of its operand, and the others grow with it. The task holds the
class's source (inline.py) with the notice of its licence, and needs no transformers to run.
"""
import glob
import hashlib
import importlib
import importlib.metadata
import importlib.util
import inspect
import os
import re
import sys

import torch

from cawb_host.torch.mode import Mode
from cawb_host.learn import inline
from cawb_host.learn.arguments import Refused

PACKAGE = "transformers"
CLASS = re.compile(r"^class (\w+)\((?:nn\.Module|GradientCheckpointingLayer)\):\n(.*?)(?=^\S|\Z)", re.M | re.S)
FORWARD = re.compile(r"^    def forward\(\s*self,(.*?)\)\s*(?:->.*?)?:\n", re.M | re.S)
BRACKETS = re.compile(r"\[[^\[\]]*\]")
BASES = ("PretrainedConfig", "PreTrainedConfig")
LAYER = ("layer_idx", "layer_id", "layer_number", "layer_index")
WIDTHS = ("hidden_size", "dim", "embed_dim", "d_model", "input_dim", "in_dim", "in_features", "channels", "num_channels", "in_channels",
          "normalized_shape", "n_embd", "width", "embedding_dim", "num_features", "input_size", "embed_dims", "emb_dim", "features",
          "n_embed", "hidden_dim", "n_state")
OTHERS = ("intermediate_size", "hidden_dim", "mlp_dim", "out_dim", "output_dim", "out_features", "out_channels", "hidden_features",
          "ffn_dim", "inner_dim", "output_size", "feed_forward_size")
WHERE = {"last": lambda rank: rank - 1, "channels": lambda rank: 1}       # which dimension of the operand the width is
REST = (8, 12, 10, 6)                                                     # sizes of the others when it is looked at
SMALL = 192                                                               # a width that most numbers of heads divide
SCALED = 32                                                               # settings from here on grow with the width
ELEMENTS = 1 << 22                                                        # of a tensor, when it is looked at with values
TRIED = 6                                                                 # settings that may be the width


def here():
    return importlib.util.find_spec(PACKAGE) is not None


def version():
    """Of the library that is installed; empty where none is."""
    return importlib.metadata.version(PACKAGE) if here() else ""


def needed(parameters):
    """Names of a forward's parameters without a default."""
    while BRACKETS.search(parameters):
        parameters = BRACKETS.sub("", parameters)
    parts = [p.strip() for p in re.sub(r"#.*", "", parameters).split(",")]
    return [p for p in parts if p and "=" not in p and not p.startswith("*")]


def listed():
    """{ "transformers.LlamaMLP": (module's name, class's name) }, from the sources, without executing them. Of classes with the
    same name the first one counts."""
    found, root = {}, os.path.dirname(importlib.util.find_spec(PACKAGE).origin)
    for path in sorted(glob.glob(os.path.join(root, "models", "*", "modeling_*.py"))):
        with open(path, encoding="utf-8") as file:
            source = file.read()
        module = "%s.models.%s.%s" % (PACKAGE, os.path.basename(os.path.dirname(path)), os.path.basename(path)[:-3])
        for match in CLASS.finditer(source):
            forward = FORWARD.search(match.group(2))
            if forward and len(needed(forward.group(1))) == 1:
                found.setdefault("%s.%s" % (PACKAGE, match.group(1)), (module, match.group(1)))
    return found


# Settings

def simple(value):
    if isinstance(value, (list, tuple)):
        return all(simple(v) for v in value)
    return value is None or isinstance(value, (bool, int, float, str))


class Recorded:
    """A model's settings; it records which of them are read."""

    def __init__(self, settings):
        self.__dict__.update(_settings=settings, _read={})

    def __getattr__(self, name):
        value = getattr(self._settings, name)
        if not simple(value):
            raise Refused("a setting that is no number or word: %s" % name)
        self._read[name] = value
        return value


def settings_of(kind):
    """Kinds of settings that a class may be of, the one that is written at its parameter first; none where it takes none."""
    parameter = inspect.signature(kind.__init__).parameters.get("config")
    if parameter is None:
        return [None]
    space = vars(inspect.getmodule(kind))
    written = parameter.annotation if isinstance(parameter.annotation, type) else space.get(str(parameter.annotation))
    others = [v for name, v in sorted(space.items()) if name.endswith("Config") and isinstance(v, type) and name not in BASES]
    first = [written] if isinstance(written, type) and written is not parameter.empty and written.__name__ not in BASES else []
    return first + [kind for kind in others if kind not in first]


def still(name, value):
    """A setting as a deterministic task has it."""
    return 0.0 if "drop" in name and isinstance(value, float) else value


def scaled(value, factor):
    """A setting for another width: a multiple of eight."""
    if isinstance(value, bool) or not isinstance(value, int) or value < SCALED:
        return value
    return max(8, int(value * factor / 8 + 0.5) * 8)


class Maker:
    """How a class is made: the values of its constructor's parameters. One of them may be its model's settings."""

    def __init__(self, kind, settings):
        self.settings, self.given = None, {}
        for name, p in list(inspect.signature(kind.__init__).parameters.items())[1:]:
            if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD):
                continue
            if name == "config":
                usual = settings()
                usual._attn_implementation = "eager"
                self.settings = Recorded(usual)
            elif "drop" in name and isinstance(p.default, float):
                self.given[name] = 0.0
            elif p.default is p.empty:
                self.given[name] = self.value(name)

    def value(self, name):
        if name in LAYER:
            return 0
        if name in WIDTHS and not any(n in WIDTHS for n in self.given):
            return SMALL
        if name in OTHERS or name in WIDTHS:
            return 2 * SMALL
        if name in ("num_heads", "num_attention_heads", "n_head", "nhead"):
            return 8
        if name in ("eps", "layer_norm_eps", "norm_eps"):
            return 1e-6
        if name in ("kernel_size",):
            return 3
        if name in ("bias", "qkv_bias"):
            return True
        raise Refused("a parameter without a rule: %s" % name)

    def made(self, kind):
        return kind(**self.given, **({"config": self.settings} if self.settings else {}))

    def read(self):
        """The settings that were read, and the other values: { name: value } both."""
        return dict(self.settings._read) if self.settings else None, dict(self.given)

    def widths(self):
        """Numbers that the operand's width may be, in the order in which they were read."""
        read, given = self.read()
        found = [v for v in list(given.values()) + list((read or {}).values()) if isinstance(v, int) and not isinstance(v, bool) and v >= 4]
        return list(dict.fromkeys(found))[:TRIED]


def first_made(kind):
    """(how a class is made, the class made without data), of the first settings that serve."""
    failed = Refused("no settings")
    for settings in settings_of(kind):
        try:
            maker = Maker(kind, settings)
            with torch.device("meta"):
                return maker, maker.made(kind)
        except Exception as error:  # pylint: disable=broad-except
            failed = error
    raise failed


# The seed

def operand(rank, where, width):
    shape = list((4,) + REST)[:rank]
    shape[WHERE[where](rank)] = width
    return tuple(shape)


class Borrowed:
    """A class that can be made for a width: its source, and how its settings follow from the width."""

    def __init__(self, name, module, kind):
        self.name, self.kind = name, kind
        self.maker, self.there = first_made(kind)
        self.places = {}                      # by the number of dimensions: (where the width stands, the width as it is set)
        self.licence = licence_of(module)

    def fitted(self, width, was):
        """(settings or None, other values) for an operand of a width, where `was` is the setting that it has now."""
        def change(values):
            return values and {n: width if v == was and not isinstance(v, bool) else still(n, scaled(v, width / was))
                               for n, v in values.items()}
        read, given = self.maker.read()
        return change(read), change(given) or {}

    def take_over(self):
        """The class from its source alone; to be called when all settings that it reads are known."""
        read, _ = self.maker.read()
        words = [v for v in (read or {}).values() if isinstance(v, str)]
        taken = inline.Inlined(self.kind, PACKAGE, words)
        self.texts, self.notices = taken.texts, [notice_of(sys.modules[home]) for home in taken.homes]
        scope = {}
        exec("import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\nfrom types import SimpleNamespace\n"
             + "\n".join(self.texts.values()), scope)
        self.own, self.scope = scope[self.kind.__name__], scope

    def alike(self):
        """The same for classes whose sources differ in their own names alone."""
        text = "\n".join(text for _, text in sorted(self.texts.items()))
        for i, name in enumerate(sorted(self.texts, key=len, reverse=True)):
            text = re.sub(r"\b%s\b" % re.escape(name), "name%d" % i, text) if name != "ACT2FN" else text
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def module(self, width, was):
        read, given = self.fitted(width, was)
        if read is not None:
            given["config"] = self.scope["SimpleNamespace"](**read)
        return self.own(**given)

    def words(self, width, was, size_text):
        """The text that makes it; `size_text(name, n)` names a size."""
        def text(name, value):
            return size_text(name, value) if isinstance(value, int) and not isinstance(value, bool) else repr(value)
        read, given = self.fitted(width, was)
        parts = ["%s=%s" % (n, text(n, v)) for n, v in given.items()]
        if read is not None:
            parts.append("config=SimpleNamespace(%s)" % ", ".join("%s=%s" % (n, text(n, v)) for n, v in read.items()))
        return "%s(%s)" % (self.kind.__name__, ", ".join(parts))


def head_of(module):
    """The lines with a module's copyright and licence, which stand in front of its source."""
    with open(module.__file__, encoding="utf-8") as file:
        lines = file.read().split("\n")
    head = lines[:next((i for i, line in enumerate(lines) if not line.startswith("#")), 0)]
    first = next((i for i, line in enumerate(head) if "opyright" in line), len(head))
    if "Apache License" not in "\n".join(head[first:]):
        raise Refused("no notice of its licence")
    return head[first:]


def notice_of(module):
    """The notice of code taken over from a module, as a comment of the task."""
    said = "# From %s, and changed: without decorators, annotations and doc strings." % place_of(module)
    return "\n".join([said] + head_of(module))


def licence_of(module):
    return ("Apache-2.0: %s, %s" % (place_of(module), head_of(module)[0].strip("# ")))[:250]


def place_of(module):
    return "%s %s, %s.py" % (PACKAGE, version(), "/".join(module.__name__.split(".")[1:]))


def borrowed(name, where):
    """The class of a listed name, or Refused."""
    importlib.import_module(PACKAGE).logging.set_verbosity_error()
    module = importlib.import_module(where[0])
    return Borrowed(name, module, getattr(module, where[1]))


def widths_of(found, runs):
    """Fills in where an operand's width stands, for each number of dimensions; `runs(what, shape)` says whether it works."""
    for rank in (2, 3, 4, 5):
        tries = [(where, width) for where in WHERE for width in found.maker.widths() if where == "last" or rank > 2]
        good = next(((where, width) for where, width in tries if runs(found.there, operand(rank, where, width))), None)
        if good:
            found.places[rank] = good
    return found.places


class Largest(Mode):
    """The most elements that any tensor has."""

    def __init__(self):
        super().__init__()
        self.most = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        for t in torch.utils._pytree.tree_leaves(result):
            if isinstance(t, torch.Tensor):
                self.most = max(self.most, t.numel())
        return result


def small_of(found, rank):
    """The class made small, with values, and the shape of its operand. First without data: a width alone does not make every
    class small."""
    where, was = found.places[rank]
    shape = operand(rank, where, SMALL)
    with Largest() as sizes, torch.device("meta"), torch.no_grad():
        found.module(SMALL, was)(torch.empty(shape))
    if sizes.most > ELEMENTS:
        raise Refused("%d elements in a tensor, however narrow it is" % sizes.most)
    return found.module(SMALL, was), shape

