"""How often a result may be rounded on its way: the accuracy of a reference that is no wider than the output.

A sum of n terms, added up one after another, is off by up to n - 1 roundings of a number of the sum's size. Two right
orders may each be off by as much, in different directions (Higham, Accuracy and Stability of Numerical Algorithms, 4.2).
If the reference has the output's type, its sums are as inexact as a candidate's, and no measurement tells by how much.
"""
import math

from cawb_host.torch import operators


def along(entry):
    """Elements along the dimensions that an operator is told; all without."""
    shape, dims = entry["inputs"][0]["shape"], entry["args"].get("dim")
    dims = dims if isinstance(dims, list) else [] if dims is None else [dims]
    known = [shape[d] for d in dims if isinstance(d, int) and -len(shape) <= d < len(shape)]
    return math.prod(known or shape)


def terms(entry):
    """How many terms an element of an operator's result is made of, at most; 0 where it has no tensors."""
    row, shapes = operators.find(entry["name"]), [t["shape"] for t in entry["inputs"]]
    if not shapes or entry["kind"] == "view":
        return 0
    if row.kind == "matmul":
        return max(shape[-1] if shape else 1 for shape in shapes)
    if row.kind == "convolution":
        return max(math.prod(shape[1:]) for shape in shapes[1:2] or shapes)
    if row.sums or row.terms or row.cumulative or row.products or row.kind in ("reduction", "normalization"):
        return along(entry)
    return 1


def steps(graph):
    """Of a whole task: the roundings of a path through all of its operators."""
    return sum(terms(entry) for entry in graph)
