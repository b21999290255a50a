"""The table of operators: rows agree with PyTorch's schemas, spellings of one computation get one
entry, and nobody else keeps such a list."""
import ast
import json
import os
import re
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "python"))
try:
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes
    from cawb_host.torch import operators
    from cawb_host.judge.compare import affine, rows
    from cawb_host.judge.task import sketch
except ImportError:
    torch, TorchDispatchMode = None, object

DEVELOPMENT = os.path.join(ROOT, "..", "shared", "kernelbench", "dev.jsonl")
LEVELS = (1, 2)                          # the third has few operators more, thousands of times
OF_THE_THIRD = (3, 15, 17, 31, 33, 35, 43, 47)

# Forwards of this test's own, in x of 4 by 6 by 8 numbers: operators that those tasks have not.
OWN = ("x.flip(0).roll(1, 0)", "x.where(x > 0, -x)", "x.gather(0, x.argmax(1, keepdim=True))", "x.topk(2)[0]",
       "x.sort(1)[0].cumprod(1)", "x.tril().triu()", "F.pad(x, (1, 2))", "F.pad(x, (1, 1), mode='reflect')",
       "F.interpolate(x, scale_factor=2)", "F.interpolate(x, size=3, mode='linear')", "F.adaptive_avg_pool1d(x, 4)",
       "F.avg_pool1d(x, 2)", "F.max_pool1d(x, 3, 2)", "x.repeat(2, 1, 1)", "x.index_select(0, torch.tensor([1, 0]))",
       "torch.addcmul(x, x, x).lerp(x, 0.5)", "x.var(1) + x.std(1)", "x.prod(1).square()", "x.logsumexp(1)",
       "torch.baddbmm(x[:, :, :6], x[:, :, :6], x[:, :, 2:])", "x[:, 0] @ x[0, 0]", "x[0, 0].dot(x[1, 0])",
       "x.amax(1) + x.amin(1)", "x.clamp(-1, 1).round().floor().sign()", "x.maximum(-x).minimum(x)",
       "F.softplus(x) + F.silu(x) + F.leaky_relu(x) + F.hardsigmoid(x)", "x.masked_fill(x > 0, 2)",
       "x.scatter_add(0, x.argmax(0, keepdim=True), x)", "x.index_add(0, torch.tensor([0]), x[:1])",
       "F.rms_norm(x, (8,))", "F.group_norm(x, 3)", "F.embedding(x[0].argmax(1), x[0])", "F.nll_loss(x[0], x[0].argmax(1))",
       "F.mse_loss(x, -x) + F.smooth_l1_loss(x, -x)", "x.to(torch.float16).to(torch.float32)", "x.remainder(2).pow(2)")

TEXT = """
import torch
import torch.nn.functional as F
class Model(torch.nn.Module):
    def forward(self, x):
        return %s
def get_inputs():
    return [torch.rand(4, 6, 8)]
def get_init_inputs():
    return []
"""


def overload(func, packet, extra):
    """The overload of a packet that takes what func does, and the arguments `extra(schema)`."""
    wanted = [(a.name, str(a.type)) for a in func._schema.arguments]
    for name in packet.overloads() if packet else ():
        found = getattr(packet, name)
        more = extra(found._schema)
        given = [(a.name, str(a.type)) for a in found._schema.arguments if a.name not in more]
        if more and given == wanted:
            return found, more
    return None, None


def results(schema):
    return [a.name for a in schema.arguments if a.kwarg_only and a.alias_info and a.alias_info.is_write]


class WithOut(TorchDispatchMode):
    """Writes each operator's results where `out=` says."""

    def __init__(self, recorder, graph, sources):
        super().__init__()
        self.recorder, self.count = recorder, 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if self.recorder.within:
            return func(*args, **kwargs)
        with _disable_current_modes():
            found, names = overload(func, func._overloadpacket, results) if not func._schema.is_mutable else (None, None)
            made = found and func(*args, **kwargs)
        places = made if isinstance(made, tuple) else (made,)
        given = [t.untyped_storage()._cdata for t in args if isinstance(t, torch.Tensor)]
        if not found or len(names) != len(places) or any(p.untyped_storage()._cdata in given for p in places):
            return func(*args, **kwargs)
        self.count += 1
        kwargs = {k: v for k, v in kwargs.items() if k in {a.name for a in found._schema.arguments}}
        return found(*args, **kwargs, **dict(zip(names, places)))


class InPlace(TorchDispatchMode):
    """Lets each operator overwrite its operand, where nobody asks for that later."""

    def __init__(self, recorder, graph, sources):
        super().__init__()
        self.recorder, self.graph, self.count = recorder, graph, 0
        self.last = {s: len(graph) for source in sources for s in self.behind(source)}
        for i, entry in enumerate(graph):
            for t in entry["inputs"]:
                self.last.update({s: max(i, self.last.get(s, 0)) for s in self.behind(t["source"])})

    def behind(self, source):
        """A tensor, and what it is a view of."""
        found = [source]
        while source.startswith("op:") and self.graph[int(source[3:]) - 1]["kind"] == "view" and \
                self.graph[int(source[3:]) - 1]["inputs"]:
            source = self.graph[int(source[3:]) - 1]["inputs"][0]["source"]
            found.append(source)
        return found

    def free(self, entry, at):
        first = entry["inputs"][0] if entry["inputs"] else {"source": "", "shape": None}
        return first["source"].startswith("op:") and first["shape"] == entry["outputs"][0]["shape"] and \
            first["dtype"] == entry["outputs"][0]["dtype"] and len(entry["outputs"]) == 1 and \
            all(self.last[s] == at and s.startswith("op:") for s in self.behind(first["source"])) and \
            [t["source"] for t in entry["inputs"]].count(first["source"]) == 1 and \
            self.graph[int(first["source"][3:]) - 1]["kind"] != "view"

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if self.recorder.within or func.namespace == "prim":
            return func(*args, **kwargs)
        at = len(self.recorder.entries)
        packet = getattr(torch.ops.aten, func._overloadpacket.__name__ + "_", None)
        found, _ = overload(func, packet, lambda schema: ["-"]) if packet and self.free(self.graph[at], at) \
            else (None, None)
        self.count += found is not None
        return (found or func)(*args, **kwargs)


def recorded(path, spelling=None, *about):
    """A sketch of a task, whose forward is spelled another way; and how many operators were."""
    modes, plain = [], sketch.Recorder

    class Recorder(plain):
        def __enter__(self):
            found = super().__enter__()
            if spelling:
                modes.append(spelling(self, *about))
                modes[0].__enter__()
            return found

        def __exit__(self, *error):
            if modes:
                modes[0].__exit__(*error)
            return super().__exit__(*error)

    sketch.Recorder = Recorder
    try:
        reply = sketch.sketch(path, {}, 42, torch.device("cpu"))
    finally:
        sketch.Recorder = plain
    return reply, modes[0].count if modes else 0


def told(graph):
    """All that is said of a graph but for how it was spelled."""
    return [{key: value for key, value in entry.items() if key != "op"} for entry in graph]


def relations(reply):
    """What the checks without a reference conclude of a graph."""
    labels, found = ["input:%d" % (i + 1) for i in range(len(reply["inputs"]))], []
    for look in (lambda: affine.inputs(reply["graph"], labels),
                 lambda: rows.follow(reply["graph"], labels, reply["inputs"][0]["shape"][0])):
        try:
            found.append(look())
        except affine.No:
            found.append("no")
    return found


@unittest.skipUnless(torch, "this Python has no PyTorch")
class Table(unittest.TestCase):
    def schemas(self, name):
        packets = [getattr(torch.ops.aten, n, None) for n in (name, name + "_")]
        return [getattr(p, o)._schema for p in packets if p for o in p.overloads()]

    def test_operands_are_named_as_in_the_schemas(self):
        seen = 0
        for name, row in operators.TABLE.items():
            known = {a.name for schema in self.schemas(name) for a in schema.arguments}
            seen += bool(known)
            for field in operators.LISTS:
                for operand in getattr(row, field) if known else ():
                    self.assertIn(operand, known, "%s: %s" % (name, field))
        self.assertGreater(seen, 0.9 * len(operators.TABLE))     # PyTorch's versions differ in some

    def test_every_form_of_an_operator_has_its_row(self):
        forms = 0
        for name in operators.TABLE:
            for packet in (getattr(torch.ops.aten, n, None) for n in (name, name + "_")):
                for overloaded in packet.overloads() if packet else ():
                    found = operators.of(getattr(packet, overloaded)).name
                    self.assertIn(found, (name, operators.ALIASES.get(name + "." + overloaded)))
                    forms += 1
        self.assertGreater(forms, 1000)

    def test_a_name_has_one_row(self):
        with self.assertRaisesRegex(ValueError, "'add' has two rows"):
            operators.define("add")

    def test_another_library_s_operators_are_not_mistaken(self):
        library = torch.library.Library("cawb_test", "DEF")
        library.define("mul(Tensor a) -> Tensor")
        row = operators.of(torch.ops.cawb_test.mul.default)
        self.assertEqual((row.name, row.known), ("cawb_test.mul", False))


@unittest.skipUnless(torch, "this Python has no PyTorch")
class Spellings(unittest.TestCase):
    def setUp(self):
        handle, self.path = tempfile.mkstemp(suffix=".py")
        os.close(handle)
        self.addCleanup(os.unlink, self.path)

    def check(self, text, name):
        """How many operators were written in another form, with the same entries."""
        with open(self.path, "w", encoding="utf-8") as file:
            file.write(text)
        reply, _ = recorded(self.path)
        counts = []
        for spelling in (WithOut, InPlace):
            other, count = recorded(self.path, spelling, reply["graph"], reply["sources"])
            self.assertEqual(told(other["graph"]), told(reply["graph"]), (name, spelling))
            self.assertEqual(other["sources"], reply["sources"], (name, spelling))
            self.assertEqual(relations(other), relations(reply), (name, spelling))
            self.assertEqual(sum(a["op"] != b["op"] for a, b in zip(other["graph"], reply["graph"])), count)
            counts.append(count)
        for entry in reply["graph"]:
            self.assertNotIn("unknown", entry["traits"], (name, entry["op"]))
        return counts

    def test_of_own_tasks(self):
        counts = [self.check(TEXT % forward, forward) for forward in OWN]
        self.assertGreater(sum(c[0] for c in counts), len(OWN))
        self.assertGreater(sum(c[1] for c in counts), 10)

    def test_of_the_development_tasks(self):
        if not os.path.exists(DEVELOPMENT):
            self.skipTest("there is no %s" % DEVELOPMENT)
        with open(DEVELOPMENT, encoding="utf-8") as file:
            tasks = [json.loads(line) for line in file]
        counts = [self.check(t["code"], t["name"]) for t in tasks if t["level"] in LEVELS or
                  t["problem_id"] in OF_THE_THIRD]
        self.assertGreater(sum(c[0] for c in counts), 400)
        self.assertGreater(sum(c[1] for c in counts), 100)


PARSES = (r"\baten[.:]", r"\baten%", r"_schema\.name\b", r"\.op\b[^\n]{0,8}:(?:match|find|gsub|sub)\b",
          r"\[\"op\"\]\.(?:split|startswith|endswith|rsplit|partition)")
OWNER = "python/cawb_host/torch/operators.py"

# These read what PyTorch's dispatcher executed, by its names.
WATCHES = ("python/cawb_host/judge/jailed/watch.py", "python/cawb_host/judge/inputs/guard.py", "python/cawb_host/judge/task/forbidden.py",
           "python/cawb/backend/late.py", "python/cawb/backend/attention.py", "python/cawb/backend/partition.py", "python/cawb/backend/fallback.py",
           "lua/cawb/judge/rules/python/python_work.lua", "lua/cawb/judge/rules/task_forbids.lua")

# Who names operators, and why. Each says how an operator is computed, timed or spelled, and nothing that could be a trait.
NAMES = {
    OWNER: "the owner",
    "lua/cawb/compose/ir/": "operations of trees, some of which are named as operators are",
    "lua/cawb/torch/kernels.lua": "the kernels that eager PyTorch starts for each",
    "lua/cawb/torch/windows.lua": "the same of windows",
    "lua/cawb/compose/operators/": "how compose computes each",
    "lua/cawb/compose/emit/cell/text.lua": "the text of a recurrent cell",
    "lua/cawb/judge/rules/python/": "functions of Python that a candidate may call, and what the dispatcher ran",
    "lua/cawb/judge/rules/task_forbids.lua": "what the dispatcher ran",
    "kernels/": "what a kernel of a family computes",
    "configs/synth-teach.lua": "which functions are drawn, since their kernels are short and may win",
    "python/cawb_host/judge/inputs/whole_numbers.py": "which take whole numbers as numbers, and how far these may reach",
}

# Who names operators as keys of functions alone.
COMPUTES = {
    "python/cawb_host/judge/compare/plain.py": "the sum in order of each",
    "python/cawb_host/judge/inputs/guard.py": "the range of each's operands",
}


def words_of_python(text):
    """The words of each string and of each literal of strings; documentation is no string. And all keys and keywords together."""
    tree = ast.parse(text)
    documentation = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}

    def words(nodes):
        strings = [n.value for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, str) and id(n) not in documentation]
        return set(re.findall(r"\w+", " ".join(strings)))

    lists, keys = [], set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant):
            lists.append(words([node]))
        elif isinstance(node, (ast.Set, ast.List, ast.Tuple)):
            lists.append(words(node.elts))
        elif isinstance(node, (ast.Compare, ast.BoolOp)):
            lists.append(words(ast.walk(node)))
        elif isinstance(node, ast.Dict):
            values = [v for v in node.values if not isinstance(v, ast.Constant)]
            keys |= words(node.keys)
            lists += [] if values else [words(node.keys)]
        elif isinstance(node, ast.Call):
            keys |= {k.arg for k in node.keywords if k.arg}
    return lists, keys


def words_of_lua(text):
    """The same, where keys are names in tables and of fields that get a value."""
    text = re.sub(r"--[^\n]*", "", text)
    strings = re.compile(r"\"([^\"\n]*)\"|'([^'\n]*)'|\[\[(.*?)\]\]", re.S)
    lists = [set(re.findall(r"\w+", " ".join(filter(None, found)))) for found in strings.findall(text)]
    for body in re.findall(r"\{([^{}]*)\}", text):
        lists.append({a or b for a, b in re.findall(r"[\"'](\w+)[\"']|\b(\w+)\s*=(?!=)", body)})
    code = strings.sub('""', text)
    return lists, set(re.findall(r"\b(\w+)\s*=(?!=)", code)) | set(re.findall(r"\.(\w+)\s*[,(]", code))


def named(path, text, names):
    """The operators that the largest list of a source names, and those that all of it does."""
    lists, keys = (words_of_python if path.endswith(".py") else words_of_lua)(text)
    return sorted(max(lists, key=lambda one: len(one & names), default=set()) & names), sorted(keys.union(*lists) & names)


@unittest.skipUnless(torch, "this Python has no PyTorch")
class OnlyOne(unittest.TestCase):
    def sources(self):
        for top in ("core", "python", "lua", "kernels", "strategies", "configs", "bench"):
            for folder, _, files in os.walk(os.path.join(ROOT, top)):
                for name in files:
                    path = os.path.relpath(os.path.join(folder, name), ROOT)
                    if name.endswith((".py", ".lua", ".c", ".h")):
                        with open(os.path.join(ROOT, path), encoding="utf-8") as file:
                            yield path, file.read()

    def test_nobody_else_parses_names_of_operators(self):
        for path, text in self.sources():
            own = path.startswith("lua/cawb/compose/")                 # its nodes have an `op` of their own
            if path in (OWNER, *WATCHES):
                continue
            for pattern in PARSES[:3] if own else PARSES:
                self.assertIsNone(re.search(pattern, text), "%s parses operators' names: %s" % (path, pattern))

    def names(self):
        return {n for n in operators.TABLE if n.startswith("_") or n not in ast.literal_eval(WORDS)}

    def test_a_list_is_found_however_it_is_written(self):
        python = ('x = {"addmm", "cumsum", "relu"}', 'x = "addmm cumsum relu".split()', 'x = [*"""addmm\ncumsum,relu""".split()]',
                  'x = n == "addmm" or n in ("cumsum", "relu")', 'x = {"addmm": 1, "cumsum": 1, "relu": 2}')
        lua = ('x = { addmm = 1, cumsum = 1, ["relu"] = 2 }', 'x = { "addmm", "cumsum", "relu" }', 'for w in ("addmm cumsum relu"):gmatch "%w+" do end')
        for path, texts in (("x.py", python), ("x.lua", lua)):
            for text in texts:
                self.assertEqual(named(path, text, self.names())[0], ["addmm", "cumsum", "relu"], text)
        fields = "kinds.addmm, kinds.cumsum, kinds.relu = f, f, f\nfunction kinds.gelu() end"
        self.assertEqual(len(named("x.lua", fields, self.names())[1]), 4)
        self.assertEqual(len(named("x.py", 'R = {"addmm": f, "cumsum": f, "relu": f, "gelu": f}', self.names())[1]), 4)

    def test_nobody_else_lists_operators(self):
        names = self.names()
        for path, text in self.sources():
            if path.startswith(tuple(NAMES)):
                continue
            most, whole = named(path, text, names)
            self.assertLess(len(most), 3, "%s lists operators: %s" % (path, most))
            free = path in COMPUTES or path.startswith(("core/", "bench/"))
            self.assertTrue(len(whole) < 4 or free, "%s names operators: %s" % (path, whole))


# Operators whose names are everyday words of programs.
WORDS = """{"max", "min", "sum", "mean", "any", "all", "norm", "where", "take", "linear", "view", "index", "fill", "copy",
"empty", "set", "zero", "select", "slice", "split", "mode", "std", "var", "round", "floor", "sort", "random", "normal",
"square", "full", "t", "add", "repeat", "abs", "median", "zeros", "mul", "sub", "log", "exp", "pow", "sqrt", "positive",
"uniform", "clone", "stack", "cat", "dot", "sin", "cos", "tan", "ceil", "geometric", "rand", "alias", "expand", "flip",
"detach", "reshape", "permute", "transpose", "unfold", "resize", "lift", "narrow", "diagonal", "contiguous", "one_hot",
"eq", "ne", "lt", "le", "gt", "ge", "div", "concat", "squeeze", "unsqueeze", "chunk", "randn", "randint", "fmod", "exp2",
"neg", "sign", "clamp", "clip", "rsqrt", "trunc", "frac", "prod", "gather", "scatter", "convolution", "matmul"}"""


if __name__ == "__main__":
    unittest.main()
