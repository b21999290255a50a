"""A product checked without making it: C r against A (B r), r a secret vector.

Independent of the reference: whoever has A, B and a time to write C in cannot guess r, and
the check costs one pass over each matrix. In float64; relative to |A| (|B| |r|), so that
sums which cancel say nothing.
"""
import os

import torch

BLOCK = 1 << 25                 # elements that are widened at a time
NAMES = {"mm": 0, "bmm": 0, "addmm": 1, "baddbmm": 1}       # tensors before the factors
CASES = (None, "mixed", "positive", "integers", "edges")    # with finite results

# How far eager PyTorch's own product may be off, when the task is looked at.
NEAR = {torch.float64: 1e-12, torch.float32: 1e-5, torch.float16: 2e-3, torch.bfloat16: 1.6e-2}


class Product:
    """The one product that a task consists of."""

    def __init__(self, entry):
        before = NAMES[name_of(entry)]
        tensors = entry["inputs"]
        self.added = tensors[0] if before else None
        self.left, self.right = tensors[before:before + 2]
        self.shape = entry["outputs"][0]["shape"]

    def begin(self, inputs, params, outs, back):
        """Handles of the errors of outputs: bytes of each, in rows."""
        outs = [self.output(out) for out in outs]
        factor = [self.find(spec, inputs, params) for spec in (self.left, self.right)]
        r = secret(factor[1].shape[-1], factor[1].device)
        want = times(factor[0], times(factor[1], r))
        size = times(factor[0], times(factor[1], r.abs(), True), True).square().mean().sqrt()
        if self.added is not None:
            want = want + times(self.find(self.added, inputs, params).expand(
                as_batch(outs[0]).shape), r)
        errors = [(times(out, r) - want).square().mean().sqrt() / size for out in outs]
        return back.add(torch.stack(errors))

    def output(self, out):
        return out[:self.bytes].view(self.dtype).view(self.shape)

    def accept(self, output):
        """Whether eager PyTorch's output, as a tensor, is this product at all."""
        self.dtype = output.dtype
        self.bytes = output.numel() * output.element_size()
        return output.dtype in NEAR and list(output.shape).count(0) == 0

    def find(self, spec, inputs, params):
        """A factor as it was seen: a view of an input or of a parameter."""
        kind, name = spec["source"].split(":", 1)
        base = inputs[int(name) - 1] if kind == "input" else params[name]
        return base.as_strided(spec["shape"], spec["strides"],
                               base.storage_offset() + spec["offset"])


def name_of(entry):
    return entry["op"].split(".")[1] if entry["op"].startswith("aten.") else entry["op"]


def find(graph, outputs):
    """The Product that a task is, or None."""
    work = [e for e in graph if e["kind"] != "view"]
    if len(work) != 1 or len(outputs) != 1 or name_of(work[0]) not in NAMES:
        return None
    entry = dict(work[0], inputs=[dict(t, source=origin(t["source"], graph))
                                  for t in work[0]["inputs"]])
    plain = all(t["source"].startswith(("input:", "param:")) for t in entry["inputs"])
    scaled = any(entry["args"].get(n, 1) != 1 for n in ("alpha", "beta"))
    product = Product(entry)
    if not plain or scaled or not product.accept(outputs[0]):
        return None
    return product


def origin(source, graph):
    """The tensor behind views of it."""
    while source.startswith("op:") and graph[int(source[3:]) - 1]["kind"] == "view" and \
            graph[int(source[3:]) - 1]["inputs"]:
        source = graph[int(source[3:]) - 1]["inputs"][0]["source"]
    return source


def secret(size, device):
    generator = torch.Generator(device)
    generator.manual_seed(int.from_bytes(os.urandom(7), "little"))
    return torch.randn(size, generator=generator, dtype=torch.float64, device=device)


def as_batch(matrix):
    return matrix if matrix.dim() == 3 else matrix.reshape(1, *matrix.shape[-2:]) \
        if matrix.dim() == 2 else matrix.reshape(1, 1, -1)


def times(matrix, vector, absolute=False):
    """matrix @ vector for each of a batch, in float64, a block of rows at a time."""
    matrix = as_batch(matrix)
    batch, rows, cols = matrix.shape
    vector = vector.reshape(-1, cols, 1)
    found = torch.empty((batch, rows), dtype=torch.float64, device=matrix.device)
    height = max(1, min(rows, BLOCK // max(1, cols)))
    depth = max(1, BLOCK // max(1, cols * height)) if height == rows else 1
    for b in range(0, batch, depth):
        mine = vector if vector.shape[0] == 1 else vector[b:b + depth]
        for r in range(0, rows, height):
            block = matrix[b:b + depth, r:r + height].to(torch.float64)
            found[b:b + depth, r:r + height] = torch.matmul(
                block.abs() if absolute else block, mine).squeeze(-1)
    return found
