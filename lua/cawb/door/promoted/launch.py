"""Executes the plans that were verified: launches by launcher.c, calls of NVIDIA's libraries by PyTorch's own, and what
parameters alone make up once for each state of these.
"""
import collections
import contextlib
import ctypes
import hashlib
import json
import os
import subprocess
import tempfile
import threading
import warnings
import weakref

import torch

HERE = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(HERE, "promoted.json")) as _file:
    ABOUT = json.load(_file)
NAME = ABOUT["name"]
PARAMS = ABOUT["params"]
INPUTS = len(ABOUT["inputs"])   # how many of the tensors are inputs; parameters follow
ALIGNED = 256                   # bytes; where PyTorch's allocator begins a tensor
KEPT = 8                        # states of parameters, for each plan, whose prepared tensors stay


# ---- what happens to what was not verified

CHOICES = ("reference", "warn", "refuse")
_choice = ABOUT["otherwise"]
_warned = set()


def otherwise(choice=None):
    """What happens to what was not verified: set it, where a choice is given, and return it."""
    global _choice
    if choice is not None:
        if choice not in CHOICES:
            raise ValueError("%s: otherwise is one of %s, not %r" % (NAME, ", ".join(CHOICES), choice))
        _choice = choice
    return _choice


def settle(why):
    """The reference is about to run, for this reason: raise, warn once, or let it."""
    if _choice == "refuse":
        raise RuntimeError("%s: %s; otherwise(\"reference\") would run the reference" % (NAME, why))
    if _choice == "warn" and why not in _warned:
        _warned.add(why)
        warnings.warn("%s runs its reference: %s" % (NAME, why), stacklevel=3)


# ---- the launcher

def _built():
    """The launcher for this source: beside it, in the user's cache, or in a temporary folder."""
    source = os.path.join(HERE, "launcher.c")
    with open(source, "rb") as file:
        name = "launcher-%s.so" % hashlib.sha256(file.read()).hexdigest()[:16]
    cache = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "cawb-promoted")
    problem = "no folder can be written"
    for folder in (HERE, cache, None):
        try:
            folder = folder or tempfile.mkdtemp(prefix="cawb-promoted-")
            os.makedirs(folder, exist_ok=True)
            target = os.path.join(folder, name)
            if not os.path.exists(target):
                new = "%s.%d" % (target, os.getpid())
                words = [os.environ.get("CC", "cc"), "-O2", "-shared", "-fPIC", "-o", new, source, "-ldl", "-lpthread"]
                subprocess.run(words, check=True, capture_output=True, text=True)
                os.replace(new, target)
            return target, None
        except subprocess.CalledProcessError as error:
            problem = (error.stderr or str(error)).strip().split("\n")[-1]
        except OSError as error:
            problem = str(error)
    return None, problem


class Launcher:
    library, problem, tried = None, None, False
    lock = threading.Lock()

    @classmethod
    def get(cls):
        with cls.lock:
            if not cls.tried:
                path, cls.problem = _built()
                if path:
                    cls.library = ctypes.CDLL(path)
                    cls.library.cawb_promoted_launch.argtypes = [
                        ctypes.c_int, ctypes.c_uint, ctypes.c_uint, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p),
                        ctypes.c_char_p, ctypes.c_size_t]
                cls.tried = True
        return cls.library


def launch(index, first, count, held, device):
    """Steps of launcher.c, on the current stream."""
    pointers = (ctypes.c_void_p * len(held))(*[t.data_ptr() if t is not None else None for t in held])
    said = ctypes.create_string_buffer(512)
    stream = torch.cuda.current_stream(device).cuda_stream
    if Launcher.get().cawb_promoted_launch(index, first, count, stream, pointers, said, len(said)):
        raise RuntimeError("%s: %s" % (NAME, said.value.decode()))


# ---- which plan

def _form(dtype, shape, strides):
    """What makes two tensors alike to a kernel: a stride is never used where there is one element."""
    return dtype, tuple(shape), tuple(0 if n == 1 else s for n, s in zip(shape, strides))


def _forms(shape):
    return tuple(_form(getattr(torch, t[0]), t[1], t[2]) for t in shape["tensors"])


PLANS = {_forms(shape): index for index, shape in enumerate(ABOUT["shapes"])}


def _words(form):
    return "%s%s" % (str(form[0])[6:], list(form[1]))


def _unverified(seen):
    """The tensors that differ from those of the plan that comes nearest, and what these would have to be."""
    nearest = min(PLANS, key=lambda plan: sum(a != b for a, b in zip(seen, plan)) + abs(len(seen) - len(plan)))
    odd = [(a, b) for a, b in zip(seen, nearest) if a != b]
    if len(seen) != len(nearest):
        return "it was not verified for %d tensors; verified: %d" % (len(seen), len(nearest))
    words = [[_words(f) + (" with strides %s" % list(f[2]) if a[:2] == b[:2] else "") for f in (a, b)] for a, b in odd]
    return "it was not verified for %s; verified: %s" % tuple(", ".join(w[k] for w in words) for k in (0, 1))


def find(tensors):
    """(the number of the plan for these tensors, None), or (None, why there is none)."""
    seen = tuple(_form(t.dtype, t.shape, t.stride()) for t in tensors)
    index = PLANS.get(seen)
    if index is None:
        return None, _unverified(seen)
    first = tensors[0]
    if not all(t.is_cuda and t.device == first.device for t in tensors):
        return None, "the tensors are not on one GPU"
    if list(torch.cuda.get_device_capability(first.device)) != ABOUT["capability"]:
        return None, "it was verified on GPUs of capability %d.%d" % tuple(ABOUT["capability"])
    if any(t.data_ptr() % ALIGNED for t in tensors):
        return None, "a tensor does not begin at a multiple of %d bytes" % ALIGNED
    if ABOUT["launches"] and not Launcher.get():
        return None, "the launcher cannot be built: %s" % Launcher.problem
    return index, None


def why_not(*tensors):
    """Why the reference would run on these, or None."""
    return find(tensors)[1]


# ---- calls of libraries

def _switches():
    """Where PyTorch keeps what its products may do to float32, and the strict value of each."""
    cuda = torch.backends.cuda.matmul
    if hasattr(cuda, "fp32_precision"):
        found = [(cuda, "fp32_precision", "ieee"), (torch.backends.cudnn.conv, "fp32_precision", "ieee")]
    else:
        found = [(cuda, "allow_tf32", False), (torch.backends.cudnn, "allow_tf32", False)]
    return found + [(cuda, "allow_fp16_reduced_precision_reduction", False),
                    (cuda, "allow_bf16_reduced_precision_reduction", False)]


class Strict:
    """float32 means float32 and sums are in float32, whatever the program has chosen for its own products."""

    def __enter__(self):
        self.before = [(where, name, getattr(where, name)) for where, name, want in _switches() if getattr(where, name) != want]
        for where, name, want in _switches():
            if getattr(where, name) != want:
                setattr(where, name, want)

    def __exit__(self, *_):
        for where, name, value in self.before:
            setattr(where, name, value)


def _seen(held, step, operand, view, dtype):
    """An operand as the step sees it, on the memory of its tensor."""
    _, tensor, plus = next(r for r in step["refs"] if r[0] == operand)
    base, kind = held[int(tensor)], getattr(torch, dtype)
    begin = base.data_ptr() - base.untyped_storage().data_ptr() + int(plus)
    made = torch.empty(0, dtype=kind, device=base.device)
    return made.set_(base.untyped_storage(), begin // kind.itemsize, view["shape"], view["strides"])


def _bias(held, step, size):
    return _seen(held, step, 3, {"shape": [size], "strides": [1]}, step["out_dtype"]) if step["bias"] else None


def _end(step, result):
    if step["activation"] == "relu":
        result.relu_()
    elif step["activation"] == "gelu_tanh":
        result.copy_(torch.nn.functional.gelu(result, approximate="tanh"))


def gemm(step, held):
    a, b = (_seen(held, step, i, step["ab"[i]], step["dtype"]) for i in (0, 1))
    c = _seen(held, step, 2, step["c"], step["out_dtype"])
    bias = _bias(held, step, c.shape[2])
    plain = step["beta"] == 0 and step["alpha"] == 1
    if c.shape[0] == 1 and plain:
        a, b, one = a[0], b[0], c[0]
        if bias is not None:
            torch.addmm(bias, a, b, out=one)
        else:
            torch.mm(a, b, out=one)
    else:
        torch.baddbmm(c, a, b, beta=step["beta"], alpha=step["alpha"], out=c) if step["beta"] else torch.bmm(a, b, out=c)
        if not step["beta"] and step["alpha"] != 1:
            c.mul_(step["alpha"])
        if bias is not None:
            c.add_(bias)
    _end(step, c)


def _more(step):
    """What PyTorch calls output_padding, of a transposed convolution."""
    if not step["transposed"]:
        return [0] * len(step["stride"])
    x, w, y = (step[k]["shape"][2:] for k in "abc")
    return [y[i] - ((x[i] - 1) * s - 2 * p + d * (w[i] - 1) + 1)
            for i, (s, p, d) in enumerate(zip(step["stride"], step["padding"], step["dilation"]))]


def conv(step, held):
    x, w = (_seen(held, step, i, step["ab"[i]], step["dtype"]) for i in (0, 1))
    y = _seen(held, step, 2, step["c"], step["out_dtype"])
    result = torch.convolution(x, w, _bias(held, step, y.shape[1]), step["stride"], step["padding"], step["dilation"],
                               step["transposed"], _more(step), step["groups"])
    y.copy_(result)
    _end(step, y)


# ---- a plan

def follow(index, steps, held, device):
    for step in steps:
        if step["kind"] == "launch":
            launch(index, step["first"], step["count"], held, device)
        else:
            with Strict():
                (gemm if step["kind"] == "gemm" else conv)(step, held)


def buffers(shape, tensors, device):
    """The tensors of a plan in its order, with fresh outputs and scratch (None for what `prepare` makes); and the outputs."""
    outputs = [torch.empty_strided(o[1], o[2], dtype=getattr(torch, o[0]), device=device) for o in shape["outputs"]]
    by_role = {"input": iter(tensors[:INPUTS]), "output": iter(outputs), "param": iter(tensors[INPUTS:])}
    held = [None if role == "scratch" else next(by_role[role]) for role in shape["roles"]]
    for at, size in shape["scratch"]:
        if at not in shape["persistent"]:
            held[at] = room(size, device)
    return held, outputs


def room(size, device):
    return torch.empty(max(1, size), dtype=torch.uint8, device=device)


# By plan, device and stream: a list of (state of the parameters, references to them, what was prepared).
_prepared, _lock = collections.defaultdict(list), threading.Lock()


def _state(tensors):
    """What changes when a parameter changes; None where nothing would."""
    if any(t.is_inference() for t in tensors):
        return None
    return tuple((t.data_ptr(), t._version) for t in tensors)


def _still(one, state):
    """Whether an entry may be of use: its parameters live, and are not those of `state` at an earlier time."""
    return all(ref() is not None for ref in one[1]) and (one[0] == state or [p for p, _ in one[0]] != [p for p, _ in state or ()])


def prepare(index, shape, held, device):
    """Have what parameters alone make up in its tensors: from the last call with the same parameters, or computed.
    A CUDA graph that is being captured gets its own, for it is executed again when parameters have changed."""
    gpu = device.type == "cuda"
    read = [held[i] for i in shape["reads"]]
    state = None if gpu and torch.cuda.is_current_stream_capturing() else _state(read)
    stream = torch.cuda.current_stream(device).cuda_stream if gpu else 0
    with _lock:
        known = _prepared[index, device, stream]
        known[:] = [one for one in known if _still(one, state)][-KEPT:]
        made = next((made for was, _, made in known if was == state), None)
        if made is None:
            made = {at: room(size, device) for at, size in shape["scratch"] if at in shape["persistent"]}
            follow(index, shape["prepare"], [made.get(i, t) for i, t in enumerate(held)], device)
            if state is not None:
                known.append((state, [weakref.ref(t) for t in read], made))
    for at, tensor in made.items():
        held[at] = tensor


def execute(index, tensors):
    """The outputs of plan `index`, as a tuple."""
    shape, device = ABOUT["shapes"][index], tensors[0].device
    held, outputs = buffers(shape, tensors, device)
    with torch.no_grad(), torch.cuda.device(device) if device.type == "cuda" else contextlib.nullcontext():
        if shape["prepare"]:
            prepare(index, shape, held, device)
        follow(index, shape["call"], held, device)
    return tuple(outputs)
