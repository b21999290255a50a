"""A task that is a plain function with examples of its inputs:

    def op(x, weight): ...
    examples = [torch.randn(64, 128), torch.randn(128)]

It is completed to KernelBench's form: a Model whose forward is the function, and a
get_inputs() that draws numbers like those of the examples. The text is added to the
file's syntax tree, so that it goes wherever the file's source goes.
"""
import ast

from cawb_host.base.fault import Fault

# {parameters}, {call}: of the function. An example's numbers are drawn anew from their own distribution. Floating numbers
# are drawn between neighbours of a sorted sample (inverse of the empirical distribution function), others from the sample.
# Tensors are made on the default device; other values do not change.
FORM = '''
import torch as _torch

class Model(_torch.nn.Module):
    {doc!r}
    def forward(self, {parameters}):
        return {call}

def _drawn_like(example):
    if isinstance(example, (list, tuple)):
        return type(example)(_drawn_like(one) for one in example)
    if not isinstance(example, _torch.Tensor) or not example.numel():
        return example
    known = example.detach().reshape(-1)
    known = known[:: max(1, known.numel() // 65536)]
    if example.is_complex() or not example.is_floating_point():
        at = _torch.randint(known.numel(), example.shape)
        return known.to(at.device)[at].to(example.dtype)
    known = known.to(_torch.float64).sort().values
    place = _torch.rand(example.shape, dtype=_torch.float64) * (known.numel() - 1)
    known = known.to(place.device)
    low = place.floor().long()
    high = (low + 1).clamp_(max=known.numel() - 1)
    return _torch.lerp(known[low], known[high], place - low).to(example.dtype)

def get_inputs():
    return [_drawn_like(example) for example in {examples}]

def get_init_inputs():
    return []
'''


def functions(tree):
    return [node for node in tree.body if isinstance(node, ast.FunctionDef)]


def chosen(tree):
    """The function that is meant: `op`, or the only one."""
    found = functions(tree)
    named = [f for f in found if f.name == "op"]
    return (named or found if len(found) == 1 else named or [None])[0]


def has(tree, name):
    return any(isinstance(node, ast.ClassDef) and node.name == name for node in tree.body)


def is_plain(tree, names):
    return "examples" in names and not has(tree, "Model")


def complete(tree, path):
    """Add to the tree what makes its function a task. Raises Fault where no function is meant."""
    function = chosen(tree)
    if function is None:
        line = next((f.lineno for f in functions(tree)), 1)
        raise Fault("task", "%s:%d: a task with `examples` and no class Model is one function: name it `op`, or"
                            " leave one function in the file (it has %s)" % (
                                path, line, ", ".join(f.name for f in functions(tree)) or "none"))
    a = function.args
    if a.kwonlyargs or a.kwarg:
        raise Fault("task", "%s:%d: %s() has arguments that go by keyword only; the examples go by place" % (
            path, function.lineno, function.name))
    words = [one.arg for one in a.posonlyargs + a.args] + (["*" + a.vararg.arg] if a.vararg else [])
    text = FORM.format(doc=ast.get_docstring(function) or function.name, parameters=ast.unparse(a),
                       call="%s(%s)" % (function.name, ", ".join(words)), examples="examples")
    tree.body.extend(ast.parse(text).body)
