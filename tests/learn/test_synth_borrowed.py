"""Seeds from a library of modules: a small one is written, with what transformers' has; what is taken over runs without it."""
import os
import random
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "python"))

import torch  # noqa: E402

from cawb_host.learn import borrowed, draw, service  # noqa: E402
from cawb_host.learn.catalogue import Catalogue  # noqa: E402

NOTICE = "# Copyright 2024 The Toy Team. All rights reserved.\n#\n# Licensed under the Apache License, Version 2.0\n"

TOY = NOTICE + '''
from typing import Optional
import math
import torch
from torch import nn
from ...activations import ACT2FN
from ...utils import auto_docstring, Cache
from .configuration_toy import ToyConfig


def eager_attention_forward(module, query, scaling):
    weights = nn.functional.softmax(torch.matmul(query, query.transpose(-1, -2)) * scaling, dim=-1)
    return torch.matmul(weights, query), weights


class ToyMLP(nn.Module):
    """A doc string."""

    def __init__(self, config: ToyConfig):
        super().__init__()
        self.up = nn.Linear(config.hidden_size, config.intermediate_size)
        self.down = nn.Linear(config.intermediate_size, config.hidden_size)
        self.act = ACT2FN[config.hidden_act]
        self.dropout = nn.Dropout(config.hidden_dropout)

    @auto_docstring
    def forward(self, hidden_states: torch.Tensor, scale: Optional[float] = None) -> torch.Tensor:
        return self.dropout(self.down(self.act(self.up(hidden_states))))


class ToyAttention(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.q = nn.Linear(config.hidden_size, config.hidden_size)

    def forward(self, hidden_states, attention_mask=None, **kwargs: "Unpack[dict[str, int]]"):
        attend = ALL_ATTENTION_FUNCTIONS.get_interface(self.config._attn_implementation, eager_attention_forward)
        return attend(self, self.q(hidden_states), 1 / math.sqrt(self.config.hidden_size // self.config.heads))


class ToyNorm(nn.Module):
    def __init__(self, hidden_size, eps=1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(hidden_size))
        self.eps = eps

    def forward(self, x):
        return self.weight * x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps)


class ToyCopiedNorm(nn.Module):
    def __init__(self, hidden_size, eps=1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(hidden_size))
        self.eps = eps

    def forward(self, x):
        return self.weight * x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps)


class ToyExperts(nn.Module):
    def __init__(self, config: ToyConfig):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(config.hidden_size, config.hidden_size))

    def forward(self, x):
        return x @ self.weight


class ToyCached(nn.Module):
    def __init__(self, config: ToyConfig):
        super().__init__()
        self.size = config.hidden_size
        self.fc = nn.Linear(self.size, self.size)

    def forward(self, x):
        return x if isinstance(x, Cache) else self.fc(x)


class ToyWide(nn.Module):
    def __init__(self, config: ToyConfig):
        super().__init__()
        self.fc = nn.Linear(config.hidden_size, 1 << 20)

    def forward(self, x):
        return self.fc(x)


class Lacking(BaseException):
    """As transformers says that a package is not there."""


class ToyLacking(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dim = dim

    def forward(self, x):
        raise Lacking()


class ToyTwo(nn.Module):
    def forward(self, x, y):
        return x + y
'''

FILES = {
    "__init__.py": "class logging:\n    set_verbosity_error = staticmethod(lambda: None)\n",
    "activations.py": NOTICE + "import torch\nfrom torch import nn\n\nclass Quick(nn.Module):\n    def forward(self, x):\n"
                      "        return x * torch.sigmoid(1.7 * x)\n\nACT2FN = {'silu': nn.SiLU(), 'quick': Quick()}\n",
    "utils.py": NOTICE + "def auto_docstring(f):\n    return f\n\nclass Cache:\n"
                         "    def get_interface(self, _name, usual):\n        return usual\n\nALL_ATTENTION_FUNCTIONS = Cache()\n",
    "models/__init__.py": "", "models/toy/__init__.py": "", "models/bare/__init__.py": "",
    "models/toy/configuration_toy.py": "class ToyConfig:\n    def __init__(self):\n        self.hidden_size, self.intermediate_size = 768, 3072\n"
                                       "        self.hidden_act, self.hidden_dropout, self.heads = 'quick', 0.1, 4\n",
    "models/toy/modeling_toy.py": TOY.replace("from .configuration_toy", "from ...utils import ALL_ATTENTION_FUNCTIONS\nfrom .configuration_toy"),
    "models/bare/modeling_bare.py": "import torch\nfrom torch import nn\n\nclass BareNorm(nn.Module):\n    def __init__(self, dim):\n"
                                    "        super().__init__()\n        self.fc = nn.Linear(dim, dim)\n\n    def forward(self, x):\n        return self.fc(x)\n",
}

FOLDER = tempfile.TemporaryDirectory()
for file_name, text in FILES.items():
    where = os.path.join(FOLDER.name, "toy_transformers", file_name)
    os.makedirs(os.path.dirname(where), exist_ok=True)
    with open(where, "w", encoding="utf-8") as written:
        written.write(text)
sys.path.insert(0, FOLDER.name)
borrowed.PACKAGE = "toy_transformers"
borrowed.version = lambda: "9.9" if borrowed.here() else ""
CATALOGUE = Catalogue()
CATALOGUE.borrow()


def seed(name):
    return CATALOGUE.seed("toy_transformers." + name)


def program_of(name, number=3):
    """A program of one class on 2 to 4 dimensions."""
    program = draw.Program({"length": 12, "features": 64})
    program.add_input([12, 64], "any")
    draw.step(program, seed(name), program.values[-1], random.Random(number))
    return program


def run(text):
    scope = {}
    exec(compile(text, "task", "exec"), scope)
    torch.manual_seed(1)
    model = scope["Model"](*scope["get_init_inputs"]())
    inputs = scope["get_inputs"]()
    with torch.no_grad():
        return model(*inputs), model, inputs


class Borrowing(unittest.TestCase):
    def test_classes_are_listed_from_sources_with_one_operand(self):
        names = CATALOGUE.names["toy_transformers"]
        self.assertIn("toy_transformers.ToyMLP", names)
        self.assertIn("toy_transformers.ToyAttention", names)
        self.assertNotIn("toy_transformers.ToyTwo", names)

    def test_what_works_is_a_seed_for_the_dimensions_that_it_takes(self):
        self.assertEqual(sorted(seed("ToyMLP").forms), [2, 3, 4, 5])
        self.assertEqual(seed("ToyMLP").what.places[3], ("last", 768))
        self.assertTrue(seed("ToyAttention").first)

    def test_what_cannot_be_taken_over_is_none(self):
        for name in ("ToyExperts", "ToyCached", "ToyWide", "ToyLacking", "BareNorm"):
            self.assertIsNone(seed(name), name)

    def test_the_task_needs_no_library_and_has_the_notices(self):
        text = program_of("ToyMLP").text(2)
        self.assertNotIn("import ToyConfig", text)
        self.assertNotIn("doc string.", text)
        self.assertIn("# From toy_transformers 9.9, models/toy/modeling_toy.py, and changed", text)
        self.assertIn("# From toy_transformers 9.9, activations.py, and changed", text)
        self.assertIn("Licensed under the Apache License", text)
        self.assertIn("intermediate_size=intermediate_size", text)
        self.assertIn("\nintermediate_size = 256\n", text)
        out, model, (x,) = run(text)
        own = model.toy_mlp
        self.assertEqual(own.dropout.p, 0.0)
        hidden = own.up(x)
        self.assertTrue(torch.allclose(out, own.down(hidden * torch.sigmoid(1.7 * hidden)), atol=1e-6))

    def test_attention_is_the_one_in_operators(self):
        text = program_of("ToyAttention").text(2)
        self.assertNotIn("ALL_ATTENTION", text)
        self.assertIn("(x)[0]", text)
        self.assertEqual(tuple(run(text)[0].shape), (2, 12, 64))

    def test_a_constructor_without_settings_gets_the_width(self):
        text = program_of("ToyNorm").text(2)
        self.assertIn("ToyNorm(hidden_size=features)", text)
        out, _, (x,) = run(text)
        self.assertTrue(torch.allclose(out, x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)))

    def test_copies_are_told(self):
        self.assertEqual(seed("ToyNorm").what.alike(), seed("ToyCopiedNorm").what.alike())
        self.assertNotEqual(seed("ToyNorm").what.alike(), seed("ToyMLP").what.alike())

    def test_the_same_number_is_the_same_text_of_another_catalogue_too(self):
        shares, texts = {"toy_transformers": 1, "nn": 1}, []
        for catalogue in (CATALOGUE, Catalogue()):
            program, _ = draw.draw(catalogue, 11, {"3": 1}, shares, {"3": 1})
            texts.append(program.text(4))
        self.assertEqual(texts[0], texts[1])
        self.assertEqual(len(program.ops), 3)

    def test_the_reply_names_licence_and_source(self):
        service.CATALOGUE = CATALOGUE
        request = {"seed": 5, "counts": {"1": 1}, "shares": {"toy_transformers": 1}, "ranks": {"3": 1}, "without": [], "only": []}
        reply = service.drawn(request)
        self.assertEqual(reply["source"], "toy_transformers")
        self.assertEqual(reply["licence"], "Apache-2.0: toy_transformers 9.9, models/toy/modeling_toy.py, Copyright 2024 The Toy Team. All rights reserved.")
        request["without"] = reply["ops"]
        self.assertNotEqual(service.drawn(request)["ops"], reply["ops"])

    def test_without_the_library_there_is_none(self):
        try:
            borrowed.PACKAGE = "no_such_library"
            catalogue = Catalogue()
            catalogue.borrow()
            self.assertEqual(sorted(catalogue.names), ["F", "nn", "torch"])
            self.assertEqual(borrowed.version(), "")
        finally:
            borrowed.PACKAGE = "toy_transformers"


if __name__ == "__main__":
    unittest.main()
