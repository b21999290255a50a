"""sources: the files that an object needs where nothing of the user's repository is: its module, the modules that this imports, and
C++ and CUDA files that these name. What is installed, in the folders of Python's packages, is there already."""
import ast
import glob
import importlib.machinery
import os
import re
import site
import sys
import sysconfig

from cawb.ci.likeness import NotSent

NATIVE = re.compile(r"[\w./-]+\.(?:cuh?|cc|cpp|cxx|c|h|hpp|hxx|inl|inc|ptx)\b")
INSTALLED = tuple({os.path.realpath(p) + os.sep for p in [
    *(sysconfig.get_paths()[n] for n in ("stdlib", "platstdlib", "purelib", "platlib")), *site.getsitepackages(),
    *(p for p in sys.path if p.endswith("-packages"))]})


def is_installed(file):
    return os.path.realpath(file).startswith(INSTALLED)


class Sources:
    """`modules`: {name: (file, is a package, text)}; `native`: {name from the root: text}; `built`: extensions that stay behind."""

    def __init__(self):
        self.modules, self.native, self.built = {}, {}, {}

    def add(self, name, file):
        """A module, and what it needs."""
        if is_installed(file):
            return
        root = os.path.dirname(file)
        for _ in name.split(".")[1 if not is_package(file) else 0:]:
            root = os.path.dirname(root)
        self.take(name, file, root)

    def take(self, name, file, root):
        if name in self.modules:
            return
        text = read(file)
        self.modules[name] = (file, is_package(file), text)
        self.parents(name, root)
        self.add_native(text, os.path.dirname(file), root)
        for other in imported(text, name, is_package(file)):
            self.follow(other, root)

    def parents(self, name, root):
        """The packages around a module; one without an __init__.py is an empty one."""
        parts = name.split(".")[:-1]
        for i in range(1, len(parts) + 1):
            package, init = ".".join(parts[:i]), os.path.join(root, *parts[:i], "__init__.py")
            if package in self.modules:
                continue
            if os.path.isfile(init):
                self.take(package, init, root)
            else:
                self.modules[package] = (init, True, "")

    def follow(self, name, root):
        """A module by its name, with the packages around it, as far as its files are the user's. Nothing is imported for that."""
        parts = name.split(".")
        top = self.top(parts[0], root)
        for i in range(1, len(parts) + 1) if top is not None else ():
            file = found(os.path.join(top, *parts[:i]))
            if file is None:
                return
            if file.endswith(".so"):
                self.built[".".join(parts[:i])] = file
            elif file.endswith(".py"):
                self.take(".".join(parts[:i]), file, top)

    def top(self, name, root):
        """The folder where a top-level module of the user's lies."""
        known = getattr(sys.modules.get(name), "__file__", None)
        if not known and found(os.path.join(root, name)):
            return root
        if not known:
            spec = importlib.machinery.PathFinder.find_spec(name)
            known = spec and (spec.origin or next(iter(spec.submodule_search_locations or ()), "") + "/")
        if not known or not os.path.isabs(known) or is_installed(known):
            return None
        folder = os.path.dirname(known)
        return os.path.dirname(folder) if os.path.basename(known) in ("__init__.py", "") else folder

    def add_native(self, text, folder, root):
        """C++ and CUDA files that a text names: beside it, or from the root."""
        for name in set(NATIVE.findall(text)):
            for base in (folder, root):
                path = os.path.normpath(os.path.join(base, name))
                if os.path.isfile(path) and path.startswith(root + os.sep) and not is_installed(path):
                    self.add_file(path, root)
                    break

    def add_file(self, path, root):
        name = os.path.relpath(path, root).replace(os.sep, "/")
        if name not in self.native:
            self.native[name] = read(path)
            self.add_native(self.native[name], os.path.dirname(path), root)

    def add_more(self, patterns, root):
        """Files that the user names, also by patterns such as csrc/*.cu, from the folder `root`."""
        for pattern in patterns:
            paths = sorted(path for path in glob.glob(os.path.join(root, pattern), recursive=True) if os.path.isfile(path))
            if not paths:
                raise NotSent("files=%r: there is no such file below %s" % (pattern, root))
            for path in paths:
                self.add_file(os.path.abspath(path), root)

    def files(self):
        """All as {name: text}, to be written below one folder."""
        texts = {name.replace(".", "/") + ("/__init__.py" if package else ".py"): text
                 for name, (_, package, text) in self.modules.items()}
        return {**self.native, **texts}


def is_package(file):
    return os.path.basename(file) == "__init__.py"


def read(path):
    with open(path, encoding="utf-8-sig") as file:
        return file.read()


def found(path):
    """The file of the module at `path`: a package, a source, an extension; or a folder that is a package without a file."""
    for file in (os.path.join(path, "__init__.py"), path + ".py"):
        if os.path.isfile(file):
            return file
    built = [path + ending for ending in importlib.machinery.EXTENSION_SUFFIXES if os.path.isfile(path + ending)]
    return built[0] if built else path if os.path.isdir(path) else None


def imported(text, name, package):
    """Names of modules that a text imports, wherever in it."""
    here = name if package else name.rpartition(".")[0]
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = here.split(".")[:len(here.split(".")) - node.level + 1]
                base = ".".join([part for part in above if part] + ([base] if base else []))
            yield from [base] if base else []
            yield from ("%s.%s" % (base, alias.name) if base else alias.name for alias in node.names)
