"""Tensors that are linear in products of matrices, without the products.

A node stands for a tensor and computes only contractions of it: `right(v)`, its last dimension times a vector, and
`left(v)`, the last but one. With `size` both are computed of absolute values: the measure of rounding errors. All is in
float64; matrices are widened a block of rows at a time.
"""
import torch

from cawb_host.base.fault import Fault

BLOCK = 1 << 25                 # elements that are widened at a time


class Unfit(Fault):
    """Why this cannot be written with contractions."""

    def __init__(self, message):
        super().__init__("unsupported", message)


class Known:
    """A tensor that exists. If it is a contraction itself, `sizes` has the sizes of its elements' terms; such a tensor is
    compared whole."""

    def __init__(self, tensor, sizes=None):
        self.tensor, self.sizes = tensor, sizes
        self.shape = tuple(tensor.shape)
        self.whole = sizes is not None

    def value(self, size=False):
        if size:
            return self.tensor.abs() if self.sizes is None else self.sizes
        return self.tensor

    def right(self, v, size=False):
        return times(self.value() if self.sizes is None else self.value(size), v,
                     size and self.sizes is None)

    def left(self, v, size=False):
        return Known(self.tensor.mT, self.sizes.mT if self.sizes is not None else None).right(v, size)


class Product:
    """a @ b, of matrices or of batches of them."""
    whole = False

    def __init__(self, a, b):
        self.a, self.b = a, b
        self.shape = a.shape[:-1] + b.shape[-1:]

    def right(self, v, size=False):
        return self.a.right(self.b.right(v, size), size)

    def left(self, v, size=False):
        return self.b.left(self.a.left(v, size), size)


class Sum:
    """The sum of factors times nodes that broadcast to a shape."""

    def __init__(self, terms, shape):
        self.terms, self.shape = terms, tuple(shape)
        self.whole = all(node.whole or not depends(node) for _, node in terms)

    def each(self, size):
        for factor, node in self.terms:
            yield abs(factor) if size else factor, expanded(node, self.shape)

    def value(self, size=False):
        return sum(f * node.value(size).to(torch.float64) for f, node in self.each(size))

    def right(self, v, size=False):
        return sum(f * node.right(v, size) for f, node in self.each(size))

    def left(self, v, size=False):
        return sum(f * node.left(v, size) for f, node in self.each(size))


class Scaled:
    """A node times a tensor that is the same along rows or along columns."""

    def __init__(self, node, factor, shape):
        self.node, self.whole, self.shape = node, node.whole, tuple(shape)
        if node.shape != self.shape:
            raise Unfit("a factor that is larger than the product")
        factor = factor.to(torch.float64)
        self.factor = factor if self.whole or factor.dim() == 0 else \
            factor.reshape((1,) * (len(shape) - factor.dim()) + tuple(factor.shape))
        self.by_rows = self.factor.dim() == 0 or self.factor.shape[-1] == 1
        by_columns = not self.by_rows and self.factor.numel() == self.factor.shape[-1]
        if not (self.whole or self.by_rows or by_columns):
            raise Unfit("a factor for each element of the product")

    def of(self, size):
        return self.factor.abs() if size else self.factor

    def value(self, size=False):
        return self.node.value(size) * self.of(size)

    def right(self, v, size=False):
        factor = self.of(size)
        if not self.by_rows:
            return self.node.right(factor.reshape(-1) * v, size)
        return (factor.squeeze(-1) if factor.dim() else factor) * self.node.right(v, size)

    def left(self, v, size=False):
        factor = self.of(size)
        if not self.by_rows:
            return factor.reshape(-1) * self.node.left(v, size)
        return self.node.left((factor.squeeze(-1) if factor.dim() else factor) * v, size)


class Transposed:
    whole = False

    def __init__(self, node):
        self.node, self.shape = node, node.shape[:-2] + (node.shape[-1], node.shape[-2])

    def right(self, v, size=False):
        return self.node.left(v, size)

    def left(self, v, size=False):
        return self.node.right(v, size)


class Reshaped:
    """The same elements in the same order; rows stay rows."""

    def __init__(self, node, shape):
        if len(node.shape) >= 2 and node.shape[-1] == 1 and not node.whole:
            node = Transposed(node)          # a column lies as a row does
        self.node, self.whole, self.shape = node, node.whole, tuple(shape)
        if not self.whole and (len(shape) < 2 or node.shape[-1:] != self.shape[-1:]):
            raise Unfit("a view that cuts or joins the product's rows")

    def value(self, size=False):
        return self.node.value(size).reshape(self.shape)

    def right(self, v, size=False):
        if v.dim() > 1:
            v = self.inner(v, -1)
        return self.node.right(v, size).reshape(self.shape[:-1])

    def left(self, v, size=False):
        v = self.inner(v.expand(self.shape[:-1]), -2)
        return self.node.left(v, size).reshape(self.shape[:-2] + self.shape[-1:])

    def inner(self, v, dim):
        if self.node.shape[-2:] != self.shape[-2:]:
            raise Unfit("a view of the product's rows between two products")
        return v.reshape(self.node.shape[:-2] + (self.node.shape[dim],)
                         if v.dim() > 1 else v.shape)


def depends(node):
    """Whether a node has a product behind it."""
    return not isinstance(node, Known) or node.whole


def expanded(node, shape):
    """A node as its sum sees it: only what is known is ever smaller."""
    if node.shape == tuple(shape):
        return node
    if isinstance(node, Known):
        sizes = node.sizes.expand(shape) if node.sizes is not None else None
        return Known(node.tensor.expand(shape), sizes)
    raise Unfit("a product that is repeated along a dimension")


def contracted(node, dims, keep, device):
    """The sum of a node over some of its dimensions, the last or the last but one among them,
    as a Known."""
    rank = len(node.shape)
    dims = tuple(sorted(d % rank for d in dims))
    if node.whole:
        return Known(*(node.value(size).sum(dims, keep) for size in (False, True)))
    if not {rank - 1, rank - 2} & set(dims):
        raise Unfit("a sum over a batch of products")
    last = rank - 1 in dims
    dim, contract = (-1, node.right) if last else (-2, node.left)
    ones = torch.ones(node.shape[dim], dtype=torch.float64, device=device)
    rest = [d for d in dims if d != rank + dim]

    def sums(size):
        found = contract(ones, size).unsqueeze(dim)
        found = found.sum(rest, keepdim=True) if rest else found
        return found if keep else found.squeeze(dims)
    return Known(sums(False), sums(True))


def as_batch(matrix):
    return matrix if matrix.dim() == 3 else matrix.reshape((-1,) + tuple(matrix.shape[-2:])) \
        if matrix.dim() >= 2 else matrix.reshape(1, 1, -1)


def times(matrix, vector, absolute=False):
    """matrix @ vector for each of a batch, in float64, a block of rows at a time. The vector
    is the same for all, or there is one for each."""
    shape = tuple(matrix.shape[:-1])
    if matrix.dim() >= 2 and matrix.stride(-2) == 0 and matrix.shape[-2] > 1:
        return times(matrix[..., :1, :], vector, absolute).expand(shape)   # the same row again
    if matrix.stride(-1) == 0 and matrix.shape[-1] > 1:                    # the same column
        return times(matrix[..., :1], vector.sum(-1, keepdim=True), absolute)
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
    return found.reshape(shape)
