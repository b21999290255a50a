"""failure: a folder that reproduces a package that failed: the graph as a task, its kernels, and the reason."""
import hashlib
import json
import os

import torch

from cawb.backend.packages import written

TASK = '''"""A graph whose kernels failed in torch.compile(backend="cawb"): %(why)s

cawb judge %(path)s %(folder)s --device %(device)s
"""
import torch
from torch import device, inf, nan              # as the graph's text names them

SEED = %(seed)d
FORMS = %(forms)r       # of each argument: type, size, strides; or a plain value
PARAMETERS = %(params)r       # the arguments that are weights, which a plan may prepare once


def argument(form):
    kind, size, strides = form
    kind = getattr(torch, kind)
    x = torch.randn(size) if kind.is_floating_point else torch.randint(0, 2, size)
    return torch.empty_strided(size, strides, dtype=kind).copy_(x)


class Graph(torch.nn.Module):
    def __init__(self):
        super().__init__()
%(constants)s
%(code)s

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        graph = Graph()
        for k, constant in enumerate(graph.buffers()):
            self.register_buffer("c%%d" %% k, constant)
        for k in PARAMETERS:
            self.register_buffer("p%%d" %% k, argument(FORMS[k]))
        self.graph = graph

    def forward(self, *inputs):
        given = iter(inputs)
        return self.graph(*[getattr(self, "p%%d" %% k) if k in PARAMETERS else next(given) if isinstance(form, tuple) else form
                            for k, form in enumerate(FORMS)])


def get_inputs():
    return [argument(form) for k, form in enumerate(FORMS) if isinstance(form, tuple) and k not in PARAMETERS]


def get_init_inputs():
    return []
'''


def form_of(x):
    return (str(x.dtype)[6:], tuple(x.shape), tuple(x.stride())) if isinstance(x, torch.Tensor) else x


def code_of(module):
    """The graph's forward, inside a class."""
    return "".join("    " + line if line.strip() else line for line in module.code.strip("\n").splitlines(True)) + "\n"


def constants_of(recorded, module):
    names = [n.target for n in module.graph.nodes if n.op == "get_attr"]
    lines = ["        self.register_buffer(%r, torch.tensor(%r, dtype=%s))" % (name, value.tolist(), value.dtype)
             for name, value in zip(dict.fromkeys(names), recorded.constants)]
    return "\n".join(lines) or "        pass"


def write(part, args, why):
    """Write the folder and return its path."""
    digest = hashlib.sha256((part.module.code + why).encode()).hexdigest()[:16]
    folder = os.path.join(part.options.failures, digest)
    os.makedirs(folder, exist_ok=True)
    for name in ("kernel.cu", "plan.lua"):
        written(os.path.join(folder, name), part.package.text(name).encode())
    path = os.path.join(folder, "task.py")
    fields = {"why": why.replace('"""', "'''").replace("\\", "/"), "path": path, "folder": folder, "device": part.chip.simulated, "seed": torch.initial_seed() % 2 ** 63,
              "forms": [form_of(x) for x in args], "params": [k for k, place in enumerate(part.recorded.arguments[:len(args)]) if place and place[0] == "param"],
              "constants": constants_of(part.recorded, part.module), "code": code_of(part.module)}
    written(path, (TASK % fields).encode())
    about = {"why": why, "torch": torch.__version__, "chip": part.chip.simulated, "arch": part.package.about["arch"]}
    written(os.path.join(folder, "reason.json"), json.dumps(about, indent=1).encode())
    return folder
