"""named: the module and the name of an object, by which another process finds it again."""
import importlib
import os
import sys

from cawb.ci import sources
from cawb.ci.likeness import NotSent

HOW = "The judge runs in other processes, which import what they judge by its name."


class Named:
    """`module` is as it is imported, `name` a path of attributes in it, `file` the module's file."""

    def __init__(self, module, name, file, value):
        self.module, self.name, self.file, self.value = module, name, file, value

    def __str__(self):
        return "%s:%s" % (self.module, self.name)


def named(value, what):
    """Where `value`, the reference, the kernel or the examples, is found: an object, or a text such as "pkg.mod:name"."""
    if isinstance(value, str):
        value = looked_up(value, what)
    if type(value).__name__ == "JITFunction":
        raise NotSent("%s is a kernel of Triton's; pass the Python function that allocates the output and launches it" % what)
    found = own_place(value) or some_place(value)
    if found is None:
        raise NotSent("%s cannot be sent: %s. %s" % (what, why_not(value), HOW))
    module, name = found
    return Named(import_name(module), name, file_of(module, what), value)


def looked_up(text, what):
    module, _, name = text.partition(":")
    try:
        return attribute(importlib.import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise NotSent("%s %r: %s; it is written as \"package.module:name\"" % (what, text, error)) from None


def attribute(value, path):
    for name in path.split("."):
        value = getattr(value, name)
    return value


def own_place(value):
    """The place that a function or a class says it has, where it is found there."""
    module, name = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
    try:
        if module and name and attribute(sys.modules[module], name) is value:
            return module, name
    except (KeyError, AttributeError):
        pass
    return None


def some_place(value):
    """A global name of a module of the user's, or of PyTorch's, for what does not know its place: a lambda, a module, what torch.compile
    or C++ made. A script comes last: its main part is not imported."""
    own = sorted((name for name, about in list(sys.modules.items()) if name != "__mp_main__" and is_own(about)), key="__main__".__eq__)
    for module in own + [name for name in ("torch", "torch.nn.functional") if name in sys.modules]:
        for name, other in list(vars(sys.modules[module]).items()):
            if other is value:
                return module, name
    return None


def is_own(module):
    file = getattr(module, "__file__", None)
    return bool(file) and not sources.is_installed(file)


def why_not(value):
    """What it is, and what to do."""
    name = getattr(value, "__qualname__", "") or type(value).__qualname__
    if getattr(value, "__self__", None) is not None and hasattr(value, "__func__"):
        return "%s is a method of an object; wrap it in a function at module level" % name
    if "<lambda>" in name:
        return "it is a lambda without a name; give it one at module level (def NAME(x): ...)"
    if "<locals>" in name:
        return "%s is defined inside a function; move it to module level" % name.replace(".<locals>", "")
    if hasattr(value, "state_dict"):
        return "this %s was made inside a function; pass its class, with init=(...) for the constructor, or make it at module level" % name
    if hasattr(value, "__wrapped__") or hasattr(value, "_torchdynamo_orig_callable"):
        return "a decorator or torch.compile made it of %s; give it a name at module level (fast = torch.compile(%s))" % (name, name)
    if not callable(value):
        return "a %s is neither a function nor a class" % name
    return "no module has it under a name; give it one at module level"


def import_name(module):
    """What other processes import: of a script that was started, by its file's name or what follows `python -m`."""
    if module != "__main__":
        return module
    main = sys.modules["__main__"]
    spec = getattr(main, "__spec__", None)
    return spec.name if spec else os.path.splitext(os.path.basename(main.__file__))[0]


def file_of(module, what):
    file = getattr(sys.modules[module], "__file__", None)
    if not file or not os.path.exists(file):
        raise NotSent("%s cannot be sent: it was defined in an interactive session; save it to a file, and import it. %s" % (what, HOW))
    return os.path.abspath(file)
