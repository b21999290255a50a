"""A promoted operator: torch.ops.cawb_promoted.<name>, and `Module`, which takes the place of the
reference's Model.

    import promoted                          # this folder on sys.path, or loaded from its path
    y = promoted.run(x)

Only what was verified runs the promoted kernels: these shapes, types and strides, on this kind
of GPU (promoted.json). Everything else falls back to the reference, reference.py; `why_not`
says why. Gradients are those of the reference. Needs PyTorch and a C compiler, not cawb.
"""
import ctypes
import importlib.util
import json
import os
import subprocess
import tempfile
import warnings

import torch

HERE = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(HERE, "promoted.json")) as _file:
    ABOUT = json.load(_file)
NAME = ABOUT["name"]
PARAMS = ABOUT["params"]
ALIGNED = 256           # bytes; where PyTorch's allocator begins a tensor


def _load_reference():
    spec = importlib.util.spec_from_file_location("cawb_reference_" + NAME, os.path.join(HERE, "reference.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for name, value in ABOUT["constants"].items():
        setattr(module, name, tuple(value) if isinstance(value, list) else value)
    arguments = getattr(module, "get_init_inputs", list)()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(42)
        return module.Model(**arguments) if isinstance(arguments, dict) else module.Model(*arguments)


MODEL = _load_reference().eval()
INPUTS = ABOUT["inputs"]        # how many of the tensors are inputs; parameters follow


def reference(*tensors):
    """The reference's outputs, as a tuple."""
    state = dict(zip(PARAMS, tensors[INPUTS:]))
    out = torch.func.functional_call(MODEL, state, tuple(tensors[:INPUTS])) if state else MODEL(*tensors[:INPUTS])
    out = tuple(out) if isinstance(out, (tuple, list)) else (out,)
    return tuple(o.clone() if any(o is t or o._is_view() for t in tensors) else o for o in out)


# ---- the launcher

def _build():
    """launcher.so beside this file, or in a temporary folder where that cannot be written."""
    source = os.path.join(HERE, "launcher.c")
    for folder in (HERE, tempfile.mkdtemp(prefix="cawb-promoted-")):
        target = os.path.join(folder, "launcher.so")
        if os.path.exists(target) and os.path.getmtime(target) >= os.path.getmtime(source):
            return target
        words = [os.environ.get("CC", "cc"), "-O2", "-shared", "-fPIC", "-o", target + ".new", source, "-ldl"]
        try:
            subprocess.run(words, check=True, capture_output=True)
            os.replace(target + ".new", target)
            return target
        except (OSError, subprocess.CalledProcessError) as error:
            problem = error
    warnings.warn("%s runs its reference: the launcher cannot be built (%s)" % (NAME, problem))
    return None


class _Launcher:
    library, tried = None, False

    @classmethod
    def get(cls):
        if not cls.tried:
            cls.tried, path = True, _build()
            if path:
                cls.library = ctypes.CDLL(path)
                cls.library.cawb_promoted_launch.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p),
                                                             ctypes.c_char_p, ctypes.c_size_t]
        return cls.library


def _describe(tensor):
    return [str(tensor.dtype).replace("torch.", ""), list(tensor.shape), list(tensor.stride())]


def _find(tensors):
    """(the verified shape, None), or (None, why there is none)."""
    first = tensors[0]
    if not all(t.is_cuda and t.device == first.device for t in tensors):
        return None, "the tensors are not on one GPU"
    if list(torch.cuda.get_device_capability(first.device)) != ABOUT["capability"]:
        return None, "it was verified on GPUs of capability %d.%d" % tuple(ABOUT["capability"])
    if any(t.data_ptr() % ALIGNED for t in tensors):
        return None, "a tensor does not begin at a multiple of %d bytes" % ALIGNED
    seen = [_describe(t) for t in tensors]
    for index, shape in enumerate(ABOUT["shapes"]):
        if shape["tensors"] == seen:
            return index, None
    return None, "it was not verified for %s" % ", ".join("%s%s" % (s[0], s[1]) for s in seen)


def why_not(*tensors):
    """Why the reference would run on these, or None."""
    index, why = _find(tensors)
    return why or (None if _Launcher.get() else "the launcher cannot be built")


def _launch(index, tensors):
    shape, device = ABOUT["shapes"][index], tensors[0].device
    outputs = [torch.empty_strided(o[1], o[2], dtype=getattr(torch, o[0]), device=device) for o in shape["outputs"]]
    scratch = [torch.empty(max(1, n), dtype=torch.uint8, device=device) for n in shape["scratch"]]
    by_role = {"input": iter(tensors[:INPUTS]), "output": iter(outputs), "param": iter(tensors[INPUTS:]), "scratch": iter(scratch)}
    pointers = (ctypes.c_void_p * len(shape["roles"]))(*[next(by_role[role]).data_ptr() for role in shape["roles"]])
    said = ctypes.create_string_buffer(512)
    with torch.cuda.device(device):
        stream = torch.cuda.current_stream(device).cuda_stream
        failed = _Launcher.get().cawb_promoted_launch(index, stream, pointers, said, len(said))
    if failed:
        raise RuntimeError("%s: %s" % (NAME, said.value.decode()))
    return tuple(outputs)


# ---- the operator

def _operator(*tensors):
    index, _ = _find(tensors)
    if index is not None and _Launcher.get():
        out = _launch(index, tensors)
    else:
        with torch.no_grad():
            out = reference(*tensors)
    return out if len(out) > 1 else out[0]


_names = ["x%d" % i for i in range(INPUTS)] + ["p%d" % i for i in range(len(PARAMS))]
_many = len(ABOUT["shapes"][0]["outputs"])
_schema = "(%s) -> %s" % (", ".join("Tensor " + n for n in _names), "Tensor" if _many == 1 else "(%s)" % ", ".join(["Tensor"] * _many))
operator = torch.library.custom_op("cawb_promoted::" + NAME, _operator, mutates_args=(), schema=_schema)


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
run = getattr(torch.ops.cawb_promoted, NAME)


class Module(torch.nn.Module):
    """The reference's Model with its forward replaced; parameters and their names are its own."""

    def __init__(self, model=None):
        super().__init__()
        self.model = model or _load_reference()

    def forward(self, *inputs):
        state = dict(self.model.named_parameters())
        state.update(self.model.named_buffers())
        return run(*inputs, *[state[name] for name in PARAMS])
