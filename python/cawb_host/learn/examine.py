"""Facts about a task from runs on the CPU at fitted sizes. The filters that use them are Lua's.

Eager runs twice on one draw of inputs and once on another. Each operator's call is replaced by each of its operands in
turn, to see whether it matters. torch.compile runs up to the graph that a compiler would get.
"""
import ast
import copy
import warnings

import torch

from cawb_host.judge.task.runner import Runner, seed_all
from cawb_host.judge.task.source import Task
from cawb_host.base.fault import Fault, one_line
from cawb_host.base.forms import results
from cawb_host.base.tensors import number


def outputs_of(result):
    return [t for _, t in results(result) if isinstance(t, torch.Tensor) and t.is_floating_point()]


def share(one, other, relative):
    """The share of elements that differ by more than `relative` of the largest; 1 where shapes do."""
    most = 0.0
    if len(one) != len(other):
        return 1.0
    for a, b in zip(one, other):
        if a.shape != b.shape:
            return 1.0
        scale = float(a.abs().max()) if a.numel() else 0.0
        most = max(most, float(((a - b).abs() > relative * scale).float().mean()))
    return most


def spread(outputs):
    """The largest standard deviation of an output over its largest magnitude: 0 of a constant."""
    found = [float(t.double().std(unbiased=False)) / max(float(t.double().abs().max()), 1e-300) for t in outputs if t.numel() > 1]
    return max(found, default=0.0)


class Without(ast.NodeTransformer):
    """Call number `which` of a forward, or operation of two operands, becomes operand `operand`."""

    def __init__(self, which, operand):
        self.which, self.operand, self.at, self.done = which, operand, -1, False

    def replaced(self, node, operands):
        self.generic_visit(node)
        self.at += 1
        if self.at != self.which or self.operand >= len(operands):
            return node
        self.done = True
        return operands[self.operand]

    def visit_Call(self, node):
        args = [a.elts if isinstance(a, (ast.List, ast.Tuple)) else [a] for a in node.args]
        return self.replaced(node, [a for part in args for a in part if not isinstance(a, (ast.Constant, ast.Compare))])

    def visit_BinOp(self, node):
        return self.replaced(node, [node.left, node.right])


class Dropped(Without):
    """The same; `f(x)[0]`, of an operator with several results, is one call."""

    def visit_Subscript(self, node):
        if isinstance(node.value, ast.Call):
            found = self.visit_Call(node.value)
            if found is not node.value:
                return found
            node.value = found
            return node
        return self.generic_visit(node)


def forwards(source):
    """(name of the call, source) of the file without one of its calls, for each operand in its place."""
    tree = ast.parse(source)
    model = next(n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == "Model")
    forward = next(f for f in model.body if isinstance(f, ast.FunctionDef) and f.name == "forward")
    calls = [n for n in ast.walk(forward) if isinstance(n, (ast.Call, ast.BinOp))]
    for which in range(len(calls)):
        for operand in range(4):
            new = copy.deepcopy(tree)
            place = next(n for n in new.body if isinstance(n, ast.ClassDef) and n.name == "Model")
            body = next(f for f in place.body if isinstance(f, ast.FunctionDef) and f.name == "forward")
            change = Dropped(which, operand)
            body.body = [change.visit(statement) for statement in body.body]
            if not change.done:
                break
            yield which, ast.unparse(ast.fix_missing_locations(new))


class Examination:
    def __init__(self, path, overrides, seed):
        self.task, self.seed = Task(path, overrides), seed
        self.runner = Runner(self.task, torch.device("cpu"), 42)
        self.inputs = self.runner.inputs(seed)

    def run(self, inputs):
        return [t for _, t in self.runner.forward(inputs, self.seed) if t.is_floating_point()]

    def facts(self):
        one, again = self.run(self.inputs), self.run(self.inputs)
        other = self.run(self.runner.inputs(self.seed ^ 1))
        return one, {"finite": all(bool(torch.isfinite(t).all()) for t in one), "outputs": len(one),
                     "deterministic": all(torch.equal(a, b) for a, b in zip(one, again)),
                     "largest": number(max([float(t.abs().max()) for t in one if t.numel()], default=0.0)),
                     "spread": number(spread(one)), "depends": share(one, other, 1e-3)}

    def idle(self, one):
        """The least share of elements that a call changes, over all calls and operands; and which."""
        least, what = 1.0, ""
        for which, source in forwards(self.task.source):
            found = self.effect(one, source)
            if found < least:
                least, what = found, "call %d of forward" % (which + 1)
        return least, what

    def effect(self, one, source):
        scope = {"__name__": "without"}
        try:
            with warnings.catch_warnings(), torch.no_grad():
                warnings.simplefilter("ignore")
                exec(compile(source, "without", "exec", dont_inherit=True), scope)
                seed_all(42)
                values = scope.get("get_init_inputs", list)()
                model = scope["Model"](*values)
                model.load_state_dict(self.runner.module.state_dict())
                seed_all(self.seed)
                return share(one, outputs_of(model(*[t.clone() if isinstance(t, torch.Tensor) else t for t in self.inputs])), 1e-5)
        except Exception:  # pylint: disable=broad-except
            return 1.0                          # a task that fails without it needs it

    def compiled(self, one):
        """The largest difference of the captured graph's outputs to eager's, relative to their largest."""
        torch._dynamo.reset()
        module = self.runner.copy()
        whole = not any(isinstance(m, torch.nn.RNNBase) for m in module.modules())   # these it leaves to eager
        model = torch.compile(module, backend="aot_eager", fullgraph=whole)
        seed_all(self.seed)
        with torch.no_grad(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = outputs_of(model(*[t.clone() if isinstance(t, torch.Tensor) else t for t in self.inputs]))
        torch._dynamo.reset()
        worst = 0.0
        for a, b in zip(one, found):
            worst = max(worst, float((a - b).abs().max()) / max(float(a.abs().max()), 1e-30))
        return worst


def run(path, overrides, seed):
    """Facts of a task; "failed" with the stage that it did not come through."""
    try:
        exam = Examination(path, overrides, seed)
        one, facts = exam.facts()
    except Fault as fault:
        if fault.name in ("memory", "device"):
            raise
        return {"failed": "eager", "why": fault.message}
    if not facts["finite"] or not facts["deterministic"] or not one:
        return facts
    facts["idle"], facts["idle_call"] = exam.idle(one)
    try:
        facts["compiled"] = number(exam.compiled(one))
    except Exception as error:  # pylint: disable=broad-except
        facts["failed"], facts["why"] = "compile", one_line("%s: %s" % (type(error).__name__, error), 300)
    return facts
