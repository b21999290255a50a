"""A small package of a user's, in a folder of its own: for tests of what is sent to the judge."""
import importlib
import os
import shutil
import sys
import tempfile
import textwrap

from cawb.ci import written

FILES = {
    "ops/__init__.py": "",
    "ops/rows.py": """
        import torch
        from . import parts
        from .parts import peak as top

        def softmax(x):
            return torch.softmax(x, -1)

        def fast(x):
            e = (x - top(x)).exp()
            return e / e.sum(-1, keepdim=True)

        def forgets(x):
            return x.exp() / x.exp().sum(-1, keepdim=True)

        class Scaled(torch.nn.Module):
            def __init__(self, width, bias=True):
                super().__init__()
                self.inner = torch.nn.Linear(width, width, bias=bias)
            def forward(self, x):
                return self.inner(x).relu()

        class Clamped(Scaled):
            def forward(self, x):
                return self.inner(x).clamp(min=0)

        compiled = torch.compile(fast)
        anonymous = lambda x: parts.peak(x)
        standing = Scaled(8)

        class Twice(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x + x

        class Launcher:
            def __call__(self, x):
                return fast(x)

        twice, launcher = Twice.apply, Launcher()
        """,
    "ops/parts.py": """
        def peak(x):
            return x.amax(-1, keepdim=True)
        """,
    "ops/native.py": """
        import os
        from torch.utils.cpp_extension import load
        built = load("twice_more", [os.path.join(os.path.dirname(__file__), "csrc/twice.cpp")])
        def double(x):
            return x + x
        def twice(x):
            return built.twice(x)
        """,
    "ops/csrc/twice.cpp": """
        #include <torch/extension.h>
        #include "factor.h"
        torch::Tensor twice(torch::Tensor x) { return x * FACTOR; }
        PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("twice", &twice); }
        """,
    "ops/csrc/factor.h": "#define FACTOR 2\n",
    "ops/csrc/unnamed.cu": "// nobody names it\n",
}


class Package:
    """The package `ops` below `folder`, importable until it is removed."""

    def __init__(self):
        self.folder = tempfile.mkdtemp()
        for name, text in FILES.items():
            written.write(os.path.join(self.folder, name), textwrap.dedent(text))
        sys.path.insert(0, self.folder)
        self.rows = importlib.import_module("ops.rows")

    def remove(self):
        sys.path.remove(self.folder)
        shutil.rmtree(self.folder)
