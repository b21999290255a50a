"""likeness: examples as text: what a tensor's numbers are like, so that every check draws new ones like them."""
import array
import ast
import base64
import sys


class NotSent(TypeError):
    """What cannot be sent to the judge, and what to do."""


MOST = 1024                # numbers that stand for a tensor's


def literal(example, what):
    """A Python expression for an example, of functions that form.py has."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(example, torch.Tensor):
        return tensor(torch, example, what)
    if type(example) in (list, tuple):
        items = [literal(one, what) for one in example]
        return ("[%s]" if isinstance(example, list) else "(%s,)" if items else "(%s)") % ", ".join(items)
    if type(example) is dict:
        return "{%s}" % ", ".join("%r: %s" % (name, literal(one, what)) for name, one in example.items())
    if type(example) is float and (example != example or example in (float("inf"), -float("inf"))):
        return "float(%r)" % str(example)
    try:
        if ast.literal_eval(repr(example)) == example:
            return repr(example)
    except (ValueError, SyntaxError):
        pass
    raise NotSent("%s: a %s cannot be written down; examples hold tensors, numbers, texts, None, lists, tuples and dicts. For"
                    " others pass a function of a seed that makes them" % (what, type(example).__name__))


def tensor(torch, example, what):
    if example.layout != torch.strided or example.is_quantized:
        raise NotSent("%s: sparse and quantized tensors are not taken; pass those that they consist of" % what)
    grad = ", grad=True" if example.requires_grad else ""
    example = example.detach().to("cpu")
    parts = torch.view_as_real(example) if example.is_complex() else example
    return "like(%r, %r, %r, %r%s)" % (str(example.dtype)[6:], list(example.shape), parts.is_floating_point(), sample(torch, parts), grad)


def sample(torch, numbers):
    """Numbers of a tensor in base64: as many as MOST quantiles of it, or, where some are not finite or none is a fraction, as many
    of its own."""
    known = numbers.reshape(-1)
    kind = "d" if numbers.is_floating_point() else "q"
    known = known[::max(1, known.numel() // 65536)].to(torch.float64 if kind == "d" else torch.int64)
    if kind == "d" and known.numel() > MOST and bool(torch.isfinite(known).all()):
        known = known.sort().values
        known = known[torch.linspace(0, known.numel() - 1, MOST, dtype=torch.float64).round().long()]
    known = known[::max(1, -(-known.numel() // MOST))].tolist()
    return base64.b64encode(array.array(kind, known).tobytes()).decode()
