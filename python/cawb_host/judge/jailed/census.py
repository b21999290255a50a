"""What a Python file mentions: facts for rules, from its syntax tree alone. Nothing runs.

Names are resolved through imports and plain assignments: after `from torch import nn as n`
the name n.Linear is torch.nn.Linear. Statements of the file itself run before any input is
there; what they call is kept apart from what functions and classes use.
"""
import ast

MOST = 400   # names of each kind
DYNAMIC = ("exec", "eval", "compile", "__import__", "importlib.import_module", "globals",
           "marshal.loads", "pickle.loads", "types.FunctionType")


def of(source):
    """{"imports", "uses": what functions and classes mention or the file binds, "calls": of
    theirs, "early": what the file itself calls, "methods": of things that are nobody's known,
    "modules": kinds of modules that are called, "assigned": attributes of imports that are
    written to, "classes": {name: [bases]}, "dynamic": code made at run time, "handlers": of
    exceptions, "products": operators @, "longest_string"}, or {"error": text}."""
    try:
        tree = ast.parse(source)
        found = Finder()
        found.collect(tree)
        found.visit(tree)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return {"error": "line %s: %s" % (getattr(error, "lineno", 0) or 1,
                                          getattr(error, "msg", None) or "nested too deeply")}
    return found.facts()


def together(sources):
    """The facts of several files, by name: what any of them has."""
    whole = None
    for name, source in sources.items():
        facts = of(source)
        if "error" in facts:
            return {"error": "%s, %s" % (name, facts["error"])}
        whole = facts if whole is None else joined(whole, facts)
    return whole


def joined(one, other):
    both = {key: sorted(set(one[key]) | set(other[key]))[:MOST] for key in one if isinstance(one[key], list)}
    return dict(both, classes={**other["classes"], **one["classes"]},
                handlers=one["handlers"] + other["handlers"], products=one["products"] + other["products"],
                longest_string=max(one["longest_string"], other["longest_string"]))


def dotted(node):
    """["torch", "nn", "functional", "relu"] of an attribute chain; "?" for what is no name.
    getattr with a constant is one, too."""
    parts = []
    while True:
        if isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        elif is_getattr(node) and isinstance(node.args[1], ast.Constant):
            parts.append(str(node.args[1].value))
            node = node.args[0]
        else:
            break
    return [node.id if isinstance(node, ast.Name) else "?"] + parts[::-1]


def is_getattr(node):
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and \
        node.func.id == "getattr" and len(node.args) > 1


class Finder(ast.NodeVisitor):
    def __init__(self):
        self.kinds = {k: set() for k in ("imports", "uses", "calls", "early", "methods", "modules",
                                         "assigned", "dynamic")}
        self.classes, self.longest, self.handlers, self.products = {}, 0, 0, 0
        self.aliases, self.own, self.parts = {}, set(), {}
        self.bound = set()      # names that the file makes: what they do stands elsewhere
        self.depth, self.called = 0, set()

    def facts(self):
        facts = {kind: sorted(names)[:MOST] for kind, names in self.kinds.items()}
        return dict(facts, classes=self.classes, handlers=self.handlers, products=self.products,
                    longest_string=self.longest)

    def collect(self, tree):
        """Aliases, the file's own names, and which attribute holds which kind of module."""
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    self.kinds["imports"].add(alias.name)
                    if alias.asname:
                        self.aliases[alias.asname] = alias.name
                    else:
                        first = alias.name.split(".")[0]
                        self.aliases.setdefault(first, first)
            elif isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    full = (node.module or "") + "." + alias.name
                    self.kinds["imports"].add(full)
                    self.aliases[alias.asname or alias.name] = full
        for node in tree.body:
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                self.own.add(node.name)
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    self.bind(target, node.value)

    def bind(self, target, value):
        name = self.real(value.func if isinstance(value, ast.Call) else value)
        known = name is not None and name.split(".")[0] in self.aliases.values()
        if isinstance(target, ast.Name):
            if known and not isinstance(value, ast.Call):
                self.aliases[target.id] = name
        elif isinstance(target, ast.Attribute) and name is not None:
            self.parts[target.attr] = name

    def real(self, node):
        """The full name of an expression, or None where it is not one."""
        parts = dotted(node)
        if parts == ["?"]:
            return None
        return ".".join([self.aliases.get(parts[0], parts[0])] + parts[1:])

    def known(self, name):
        return name.split(".")[0] in {full.split(".")[0] for full in self.aliases.values()}

    def visit_FunctionDef(self, node):
        self.depth += 1
        self.generic_visit(node)
        self.depth -= 1

    visit_AsyncFunctionDef = visit_Lambda = visit_FunctionDef

    def visit_ClassDef(self, node):
        self.classes[node.name] = [self.real(base) or "?" for base in node.bases]
        self.visit_FunctionDef(node)

    def visit_Call(self, node):
        name = self.real(node.func)
        if name is not None:
            self.note_call(node, name)
        if is_getattr(node) and not isinstance(node.args[1], ast.Constant):
            self.kinds["dynamic"].add("getattr")
        self.called.add(id(node.func))
        self.generic_visit(node)

    def note_call(self, node, name):
        if name in DYNAMIC:
            self.kinds["dynamic"].add(name)
        self.kinds["calls" if self.depth else "early"].add(name)
        parts = dotted(node.func)
        if parts[0] == "self" and len(parts) == 2 and parts[1] in self.parts:
            self.kinds["modules"].add(self.parts[parts[1]])
        elif len(parts) > 1 and not self.known(name) and parts[0] not in self.own and \
                parts[0] not in self.bound and (self.depth or parts[0] == "?"):
            self.kinds["methods"].add(parts[-1])

    def visit_Module(self, node):
        self.bound = {t.id for n in node.body if isinstance(n, ast.Assign) for t in n.targets
                      if isinstance(t, ast.Name)}
        self.generic_visit(node)

    def visit_Name(self, node):
        self.mention(node)

    def visit_Attribute(self, node):
        self.mention(node)
        if isinstance(node.value, (ast.Attribute, ast.Name)):
            return                          # the parts of a chain are no mention of their own
        self.generic_visit(node)

    def mention(self, node):
        name = self.real(node)
        if name is None or not self.known(name):
            return
        if isinstance(node.ctx, (ast.Store, ast.Del)):
            self.kinds["assigned"].add(name)
        elif self.depth or id(node) not in self.called:
            self.kinds["uses"].add(name)

    def visit_BinOp(self, node):
        self.products += isinstance(node.op, ast.MatMult)
        self.generic_visit(node)

    def visit_AugAssign(self, node):
        self.products += isinstance(node.op, ast.MatMult)
        self.generic_visit(node)

    def visit_ExceptHandler(self, node):
        self.handlers += 1
        self.generic_visit(node)

    def visit_With(self, node):
        for item in node.items:             # `with suppress(...)` is a handler, too
            call = item.context_expr
            if isinstance(call, ast.Call) and (self.real(call.func) or "").endswith("suppress"):
                self.handlers += 1
        self.generic_visit(node)

    def visit_Constant(self, node):
        if isinstance(node.value, (str, bytes)):
            self.longest = max(self.longest, len(node.value))
