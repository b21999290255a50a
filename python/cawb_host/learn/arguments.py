"""Arguments by shape rules. The values of a constructor's parameter follow from its name and the shape that the module will
see. For functions there are the ways to call them.

A size that follows from the shape is fixed; any other is drawn. `draw` is a random.Random, so that the same seed gives the
same arguments.
"""
import inspect


class Refused(Exception):
    """A step of a composition that does not fit, or a class that cannot be taken over."""


HIDDEN = (64, 128, 256, 512, 1024, 2048, 4096)
CHANNELS = (16, 24, 32, 48, 64, 96, 128)


def divisor(n, draw, most=32):
    """A drawn divisor of n that is not 1, where there is one."""
    found = [k for k in range(2, min(n, most) + 1) if n % k == 0]
    return draw.choice(found) if found else 1


# Parameters without a default, by name, with their possible values. `shape` is (batch, ...).
REQUIRED = {
    "in_channels": lambda shape, draw: shape[1],
    "num_features": lambda shape, draw: shape[1],
    "num_channels": lambda shape, draw: shape[1],
    "in_features": lambda shape, draw: shape[-1],
    "in1_features": lambda shape, draw: shape[-1],
    "in2_features": lambda shape, draw: shape[-1],
    "input_size": lambda shape, draw: shape[-1],
    "embed_dim": lambda shape, draw: shape[-1],
    "d_model": lambda shape, draw: shape[-1],
    "normalized_shape": lambda shape, draw: shape[-1],
    "out_channels": lambda shape, draw: draw.choice(CHANNELS),
    "out_features": lambda shape, draw: draw.choice(HIDDEN),
    "hidden_size": lambda shape, draw: draw.choice((64, 128, 256)),
    "num_groups": lambda shape, draw: divisor(shape[1], draw),
    "groups": lambda shape, draw: divisor(shape[1], draw),
    "num_heads": lambda shape, draw: divisor(shape[-1], draw, 16),
    "nhead": lambda shape, draw: divisor(shape[-1], draw, 16),
    "kernel_size": lambda shape, draw: draw.choice((2, 3, 3, 4, 5, 7)),
    "output_size": lambda shape, draw: draw.choice((1, 2, 4, 7)),
    "upscale_factor": lambda shape, draw: 2,
    "downscale_factor": lambda shape, draw: 2,
    "scale_factor": lambda shape, draw: 2,
    "padding": lambda shape, draw: draw.choice((1, 2)),
    "size": lambda shape, draw: draw.choice((3, 5)),
    "norm_type": lambda shape, draw: 2,
    "threshold": lambda shape, draw: draw.choice((0.1, 0.5)),
    "value": lambda shape, draw: draw.choice((0.0, 1.0)),
    "dim": lambda shape, draw: draw.randrange(1, len(shape)),
}

# Parameters with a default that are given another value now and then, or, where the default will not
# do (the first column), always.
OPTIONAL = {
    "dim": (True, lambda shape, draw: draw.randrange(1, len(shape))),
    "scale_factor": (True, lambda shape, draw: 2),
    "batch_first": (True, lambda shape, draw: True),
    "dropout": (True, lambda shape, draw: 0.0),
    "stride": (False, lambda shape, draw: draw.choice((1, 2))),
    "padding": (False, lambda shape, draw: draw.choice((1, 2))),
    "dilation": (False, lambda shape, draw: draw.choice((1, 2))),
    "bias": (False, lambda shape, draw: draw.choice((True, False))),
    "groups": (False, lambda shape, draw: divisor(shape[1], draw, 8)),
    "num_parameters": (False, lambda shape, draw: shape[1]),
    "negative_slope": (False, lambda shape, draw: draw.choice((0.01, 0.1, 0.2))),
    "alpha": (False, lambda shape, draw: draw.choice((0.5, 1.0, 1.5))),
    "beta": (False, lambda shape, draw: draw.choice((0.5, 1.0, 2.0))),
    "lambd": (False, lambda shape, draw: draw.choice((0.3, 0.5))),
    "approximate": (False, lambda shape, draw: draw.choice(("none", "tanh"))),
    "affine": (False, lambda shape, draw: draw.choice((True, False))),
    "count_include_pad": (False, lambda shape, draw: draw.choice((True, False))),
    "ceil_mode": (False, lambda shape, draw: draw.choice((True, False))),
}
OFTEN = 0.3        # how often an optional parameter is given


def parameters(kind):
    """The parameters of a class's constructor, or of a function; None where nobody can say."""
    try:
        found = inspect.signature(kind).parameters
    except (ValueError, TypeError):
        return None
    if any(p.kind is p.VAR_POSITIONAL for p in found.values()):      # nn.GRU passes on what its base takes
        return parameters(kind.__mro__[1]) if kind.__mro__[1] is not object else None
    return [p for name, p in found.items() if name not in ("self", "device", "dtype", "inplace", "mode")
            and p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]


def constructor(kind, shape, draw, plain=False):
    """{ name: value } for a module of this class that is to see such a shape; None where a parameter
    has no rule. `plain`: no optional parameter but those that are needed."""
    given = {}
    for p in parameters(kind) or []:
        if p.default is p.empty:
            if p.name not in REQUIRED:
                return None
            given[p.name] = REQUIRED[p.name](shape, draw)
        elif p.name in OPTIONAL:
            needed, rule = OPTIONAL[p.name]
            if needed or (not plain and draw.random() < OFTEN):
                given[p.name] = rule(shape, draw)
    return given


# The ways to call a function of tensors. Each makes the arguments' texts from `x`, the text of the value, and from `ask`.
# ask.tensor(shape) is a further operand, ask.dim() a dimension of the value, ask.number() a number. ask.size() is a new
# size, ask.shape the value's shape. The arguments' types stand in front; an operator's schema says by them whether to try.
# T is a tensor, S tensors, I a whole number, F a number, L a list of sizes; names stand behind a colon.

FORMS = {
    "x": ("T", lambda x, ask: [x]),
    "x, dim": ("TI", lambda x, ask: [x, str(ask.dim())]),
    "x, dim=": ("T:dim", lambda x, ask: [x, "dim=%d" % ask.dim()]),
    "x, dim=, keepdim": ("T:dim,keepdim", lambda x, ask: [x, "dim=%d" % ask.dim(), "keepdim=True"]),
    "x, y": ("TT", lambda x, ask: [x, ask.tensor(ask.shape)]),
    "x, y, z": ("TTT", lambda x, ask: [x, ask.tensor(ask.shape), ask.tensor(ask.shape)]),
    "x, 2": ("TI", lambda x, ask: [x, "2"]),
    "x, 0.5": ("TF", lambda x, ask: [x, repr(ask.number())]),
    "x, a, b": ("TFF", lambda x, ask: [x, "-0.5", "0.5"]),
    "x, (2, 2)": ("TL", lambda x, ask: [x, "(2, 2)"]),
    "x, shape": ("TL", lambda x, ask: [x, ask.sizes(ask.shape[-1:])]),
    "x, matrix": ("TT", lambda x, ask: [x, ask.weight((ask.shape[-1], ask.size()))]),
    "x, weight": ("TT", lambda x, ask: [x, ask.weight((ask.size(), ask.shape[-1]))]),
    "x, kernel": ("TT", lambda x, ask: [x, ask.weight((ask.channels(), ask.shape[1]) + (3,) * (len(ask.shape) - 2))]),
    "x, vector": ("TT", lambda x, ask: [x, ask.weight((ask.shape[-1],))]),
    "x, slopes": ("TT", lambda x, ask: [x, ask.weight((ask.shape[1],))]),
    "x, batch": ("TT", lambda x, ask: [x, ask.tensor(ask.shape[:-2] + (ask.shape[-1], ask.shape[-2]))]),
    "x, y, 0.5": ("TTF", lambda x, ask: [x, ask.tensor(ask.shape), repr(ask.number())]),
    "x > 0, x, y": ("TTT", lambda x, ask: ["%s > 0" % x, x, ask.tensor(ask.shape)]),
    "[x, y], dim": ("SI", lambda x, ask: ["[%s, %s]" % (x, ask.tensor(ask.shape)), str(ask.dim())]),
    "x, pad": ("TL", lambda x, ask: [x, "(1, 1)"]),
    "x, scale_factor": ("T:scale_factor", lambda x, ask: [x, "scale_factor=2"]),
    "x, condition, 0.5": ("TTF", lambda x, ask: [x, "%s > 0" % x, repr(ask.number())]),
}
BINARY = ("x, y", "x, y, z", "x, y, 0.5", "x > 0, x, y", "[x, y], dim")    # further operands of the same shape

# The ways to call a module.
CALLS = {
    "x": ("T", lambda x, ask: [x]),
    "x, x, x": ("TTT", lambda x, ask: [x, x, x]),
    "x, y": ("TT", lambda x, ask: [x, ask.tensor(ask.shape)]),
}


# Which forms an operator's schema allows.

ACCEPTS = {"T": ("Tensor",), "S": ("List[Tensor]",), "I": ("int", "number", "float", "List[int]"), "F": ("number", "float"),
           "L": ("List[int]",)}


def fits(schema, types):
    """Whether arguments of these types can be given to an operator with this schema."""
    places, _, words = types.partition(":")
    given = set(words.split(",")) if words else set()
    for i, argument in enumerate(schema.arguments):
        kind = str(argument.type)
        kind = kind[9:-1] if kind.startswith("Optional[") else kind
        if i < len(places) and not argument.kwarg_only:
            if kind not in ACCEPTS[places[i]]:
                return False
        elif argument.name in given:
            given.discard(argument.name)
        elif not argument.has_default_value() or i < len(places):
            return False
    return not given and len(places) <= len(schema.arguments)
