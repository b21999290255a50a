"""The operator for PyTorch, and the module that takes the place of the reference's Model."""
import filecmp
import functools
import importlib.util
import inspect
import os
import sys

import torch


def _bring(folder):
    """Modules that the task imports go along in this folder. A program's own modules of these names come first, and have to be the same."""
    sys.path.append(folder)
    for name in (n for n in os.listdir(folder) if n != "__pycache__"):
        own, found = os.path.join(folder, name), importlib.util.find_spec(name.partition(".")[0])
        own = os.path.join(own, "__init__.py") if os.path.isdir(own) else own
        if found and found.origin and os.path.isfile(own) and not filecmp.cmp(found.origin, own, shallow=False):
            raise ImportError("%s is not the module that was verified, %s: rename one of them" % (found.origin, own))


_NEIGHBOURS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "neighbours")
if os.path.isdir(_NEIGHBOURS):
    _bring(_NEIGHBOURS)

from . import reference as _task  # noqa: E402
from .launch import ABOUT, INPUTS, NAME, PARAMS, execute, find, settle  # noqa: E402


# ---- the reference

def _initial():
    """The constructor's arguments that were verified: (args, kwargs)."""
    values = getattr(_task, "get_init_inputs", list)()
    return ((), dict(values)) if isinstance(values, dict) else (tuple(values), {})


with torch.random.fork_rng(devices=[]):
    torch.manual_seed(42)
    INITIAL = _initial()
    MODEL = _task.Model(*INITIAL[0], **INITIAL[1])      # in the mode that was verified, which its constructor chose
KEYWORDS = [name for name in ABOUT["inputs"] if name]   # of inputs that the task gives by name


def _names():
    """The names of forward's arguments in order; none where it takes any number of them."""
    found = list(inspect.signature(_task.Model.forward).parameters.values())[1:]
    return [] if any(p.kind is p.VAR_POSITIONAL for p in found) else [p.name for p in found]


NAMES = _names()
ORDER = KEYWORDS or NAMES[:INPUTS]                      # in which the operator takes them


def reference(*tensors):
    """The reference's outputs, as a tuple."""
    state, inputs = dict(zip(PARAMS, tensors[INPUTS:])), tensors[:INPUTS]
    args, kwargs = ((), dict(zip(KEYWORDS, inputs))) if KEYWORDS else (tuple(inputs), {})
    out = torch.func.functional_call(MODEL, state, args, kwargs) if state else MODEL(*args, **kwargs)
    out = tuple(out) if isinstance(out, (tuple, list)) else (out,)
    return tuple(o.clone() if any(o is t or o._is_view() for t in tensors) else o for o in out)


# ---- the operator

def _operator(*tensors):
    index, why = find(tensors)
    if why is None:
        out = execute(index, tensors)
    else:
        settle(why)
        with torch.no_grad():
            out = reference(*tensors)
    return out if len(out) > 1 else out[0]


_words = ["x%d" % i for i in range(INPUTS)] + ["p%d" % i for i in range(len(PARAMS))]
_many = len(ABOUT["shapes"][0]["outputs"])
_schema = "(%s) -> %s" % (", ".join("Tensor " + n for n in _words), "Tensor" if _many == 1 else "(%s)" % ", ".join(["Tensor"] * _many))
operator = torch.library.custom_op("%s::%s" % (ABOUT["package"], NAME), _operator, mutates_args=(), schema=_schema)


@operator.register_fake
def _fake(*tensors):
    out = reference(*tensors)
    return out if len(out) > 1 else out[0]


def _keep(ctx, inputs, output):
    ctx.save_for_backward(*inputs)


def _backward(ctx, *grads):
    with torch.enable_grad():
        tensors = [t.detach().requires_grad_(need) for t, need in zip(ctx.saved_tensors, ctx.needs_input_grad)]
        outputs = reference(*tensors)
        wanted = [t for t in tensors if t.requires_grad]
        found = iter(torch.autograd.grad(outputs, wanted, grads, allow_unused=True))
    return tuple(next(found) if t.requires_grad else None for t in tensors)


operator.register_autograd(_backward, setup_context=_keep)
run = getattr(getattr(torch.ops, ABOUT["package"]), NAME)


# ---- the module

def _same(a, b):
    if isinstance(a, torch.Tensor) or isinstance(b, torch.Tensor):
        return isinstance(a, torch.Tensor) and isinstance(b, torch.Tensor) and a.dtype == b.dtype and torch.equal(a.cpu(), b.cpu())
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(_same(x, y) for x, y in zip(a, b))
    return type(a) is type(b) and bool(a == b)


def _bound(args, kwargs):
    found = inspect.signature(_task.Model).bind(*args, **kwargs)
    found.apply_defaults()
    return found.arguments


def _other_arguments(args, kwargs):
    """Which of the constructor's arguments is not the one that was verified, as a sentence; or None."""
    verified, these = _bound(*INITIAL), _bound(args, kwargs)
    for name, value in these.items():
        if name not in verified or not _same(value, verified[name]):
            return "it was made with another '%s' than the one that was verified" % name
    return None


# Whether training mode may differ from evaluation: a layer that knows the two, or the word in the task.
_BY_MODE = (torch.nn.modules.dropout._DropoutNd, torch.nn.modules.batchnorm._NormBase, torch.nn.RReLU)


def _by_mode():
    if any(isinstance(m, _BY_MODE) for m in MODEL.modules()):
        return True
    try:
        text = inspect.getsource(_task)
    except OSError:
        return True
    return any(word in text for word in ("training", "dropout", "batch_norm"))


BY_MODE = _by_mode()


class Module(_task.Model):
    """The reference's Model with its forward replaced: the same constructor, parameters, state and methods. Made or called
    otherwise than was verified, it runs the reference's own forward, or refuses: see `otherwise`."""

    @functools.wraps(_task.Model.__init__)
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self._unverified = _other_arguments(args, kwargs)

    def _inputs(self, args, kwargs):
        """The operator's inputs, or None where a call has others."""
        if not NAMES:
            inputs = list(args) if len(args) == INPUTS and not kwargs else []
        else:
            given = dict(zip(NAMES, args), **kwargs) if len(args) <= len(NAMES) else {}
            inputs = [given.get(name) for name in ORDER] if len(given) == INPUTS else []
        return inputs if inputs and all(isinstance(x, torch.Tensor) for x in inputs) else None

    def why_not(self, *args, **kwargs):
        """Why a call with these would run the reference, or None."""
        return self._not_here(args, kwargs) or find([*self._inputs(args, kwargs), *self._weights()])[1]

    def _weights(self):
        state = dict(self.named_parameters(remove_duplicate=False))
        state.update(self.named_buffers(remove_duplicate=False))
        return [state.get(name) for name in PARAMS]

    def _not_here(self, args, kwargs):
        """Why not, as far as it is no matter of shapes and devices."""
        if self._unverified:
            return self._unverified
        if BY_MODE and self.training != MODEL.training:
            return "it was verified in %s mode" % ("training" if MODEL.training else "evaluation")
        if self._inputs(args, kwargs) is None:
            return "it was verified for a call with %d tensors" % INPUTS
        if any(w is None for w in self._weights()):
            return "the module has lost a parameter"
        return None

    def forward(self, *args, **kwargs):
        why = self._not_here(args, kwargs)
        if why is not None:
            settle(why)
            return super().forward(*args, **kwargs)
        return run(*self._inputs(args, kwargs), *self._weights())
