"""A candidate of several files: a folder in the jail, from which its model_new.py imports the others, by `from .ops import
f` as well as by `from ops import f`, and opens them by their names.

What its C++ defines as a module (PYBIND11_MODULE) and its Python imports is built first, from all C++ and CUDA sources of
the folder: so a working directory whose extension a script of its own would have built is judged as it is.
"""
import os
import re
import sys

FIRST = "model_new.py"
ALONE = "candidate.py"
LONG_AGO = 1 << 30              # older than whatever was built of them (builds.py)
BUILT = (".cu", ".cpp", ".cc", ".cxx", ".c")
MODULE = re.compile(r"^[ \t]*(?:PYBIND11_MODULE|NB_MODULE)\s*\(\s*(\w+)", re.M)


def lay_out(base, source, others):
    """Write the files below `base`; the path of the first one."""
    if not others:
        path = os.path.join(base, ALONE)
        write(path, source)
        return path
    folder = os.path.join(base, "candidate")
    for name, text in others.items():
        write(os.path.join(folder, *name.split("/")), text)
    write(os.path.join(folder, FIRST), source)
    return os.path.join(folder, FIRST)


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.utime(path, (LONG_AGO, LONG_AGO))


def place(path):
    """What to say of a file of the candidate's before a line's number: nothing of one that is alone, "ops.py, " of one of
    several; None of files that are not the candidate's."""
    if path.endswith("/" + ALONE):
        return ""
    below = os.path.join(os.environ.get("TMPDIR", "/"), "candidate", "")
    return path[len(below):] + ", " if path.startswith(below) else None


def arrive(module, source, others):
    """Stand in the folder, with `module` its package."""
    folder = os.path.dirname(module.__file__)
    module.__path__, module.__package__ = [folder], module.__name__
    module.__spec__.submodule_search_locations = [folder]
    sys.path.insert(0, folder)
    os.chdir(folder)
    for name in extensions(source, others):
        sys.modules[name] = build(name, folder, others)


def extensions(source, others):
    """Names of modules that the folder's C++ defines and its Python imports."""
    defined = {name for path, text in others.items() if path.endswith(BUILT) for name in MODULE.findall(text)}
    python = [source] + [text for path, text in others.items() if path.endswith(".py")]
    return sorted(name for name in defined if any(
        re.search(r"^[ \t]*(?:import|from)[ \t]+%s\b" % name, text, re.M) for text in python))


def build(name, folder, others):
    from torch.utils import cpp_extension  # pylint: disable=import-outside-toplevel
    sources = sorted(os.path.join(folder, path) for path in others if path.endswith(BUILT))
    kept = os.path.join(folder, "build")
    os.makedirs(kept, exist_ok=True)
    return cpp_extension.load(name, sources, build_directory=kept, extra_include_paths=[folder],
                              extra_cflags=["-O2"], extra_cuda_cflags=["-O3"],
                              with_cuda=any(path.endswith(".cu") for path in sources))
