"""written: a task's file and a candidate's folder, for objects that are named."""
import ast
import inspect
import os
import pprint

from cawb.ci.likeness import NotSent, literal
from cawb.ci.named import named
from cawb.ci.sources import Sources, read

FORM = os.path.join(os.path.dirname(__file__), "form.py")
JUDGING = "CAWB_JUDGING"         # set where the judge imports what it judges: no place to call it again


class Kernel:
    """A CUDA kernel as two texts: its source, and the plan that launches it (docs/reference/plan.md)."""

    def __init__(self, source, plan):
        self.source, self.plan = source, plan


def is_module_class(value):
    return isinstance(value, type) and hasattr(value, "named_parameters")


def stand_in(found, name):
    """Lines that define the module class `name` for the object `it`: itself, or a module around it."""
    if isinstance(found.value, type):
        if not is_module_class(found.value):
            raise NotSent("%s is a class, but no torch.nn.Module; pass a function" % found)
        return ["%s = it" % name]
    holds = ["    def __init__(self):", "        super().__init__()", "        self.it = copy.deepcopy(it)", ""]
    holding = hasattr(found.value, "state_dict")
    return ["", "class %s(torch.nn.Module):" % name, "    %r" % (inspect.getdoc(found.value) or str(found)), *(holds if holding else []),
            "    def forward(self, *args, **more):", "        return %s(*args, **more)" % ("self.it" if holding else "it"), ""]


def init_lines(found, init):
    if init and not isinstance(found.value, type):
        raise NotSent("init= is for a class; %s is none" % found)
    return ["", "def get_init_inputs():", "    return %s" % literal(dict(init) if isinstance(init, dict) else list(init), "init"), ""]


def has_gradients(text):
    """Whether a text computes gradients: then the task's file has to say so."""
    return any(isinstance(node, ast.Attribute) and (node.attr == "backward" or node.attr == "grad" and "autograd" in ast.unparse(node.value))
               for node in ast.walk(ast.parse(text)))


def input_lines(examples, sources):
    if not callable(examples) and not (isinstance(examples, str) and ":" in examples):
        if not isinstance(examples, (list, tuple, dict)):
            examples = [examples]
        return ["def get_inputs():", "    return %s" % literal(dict(examples) if isinstance(examples, dict) else list(examples), "examples")]
    found = named(examples, "examples")
    sources.add(found.module, found.file)
    takes = any(p.default is p.empty for p in inspect.signature(found.value).parameters.values())
    return ["def get_inputs():", "    return made(named(%r, %r), %r)" % (found.module, found.name, takes)]


def write_task(folder, reference, examples, init):
    """Write the task of a reference: the path of its file, and the reference's place."""
    found, sources = named(reference, "the reference"), Sources()
    sources.add(found.module, found.file)
    inputs = input_lines(examples, sources)
    text = read(FORM) + "\n\n" + "\n".join([
        "sys.meta_path.insert(0, Sources(%s))" % pprint.pformat(sources.modules, width=4096, sort_dicts=True),
        "it = named(%r, %r)" % (found.module, found.name), *stand_in(found, "Model"), *init_lines(found, init), "", *inputs, ""])
    if has_gradients(sources.modules.get(found.module, ("", False, ""))[2]):
        text += "\n\nfrom torch.autograd import grad\n"
    path = os.path.join(folder, found.name.split(".")[-1] + ".py")
    write(path, text)
    return path, found


def write_kernel(folder, kernel):
    for name, text in (("kernel.cu", kernel.source), ("plan.lua", kernel.plan)):
        write(os.path.join(folder, name), text)
    return folder


PRELUDE = """import copy
import functools
import importlib
import os

import torch

os.environ[%r] = "1"
if not torch.cuda.is_available():
    os.environ.setdefault("TRITON_INTERPRET", "1")     # Triton's kernels run on the processor, too
it = functools.reduce(getattr, %r.split("."), importlib.import_module(%r))
"""


def write_callable(folder, found, files):
    """Write the folder of a candidate in Python; returns the modules that were built, and stay behind."""
    sources = Sources()
    sources.add(found.module, found.file)
    sources.add_more(files, os.getcwd())
    text = PRELUDE % (JUDGING, found.name, found.module)
    if any("cuda" in one for one in sources.files().values()):
        text += "# its files name cuda\n"          # where there is no GPU, that means the processor
    write(os.path.join(folder, "model_new.py"), text + "\n".join(stand_in(found, "ModelNew")) + "\n")
    for name, one in sources.files().items():
        write(os.path.join(folder, *name.split("/")), one)
    return sources.built


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
