"""Which inputs' rows are independent of one another, by a task's operators: rows in another
order come out in that order.

A tensor that depends on these inputs has an axis in which they lie: (dimension, length of
each), where a view has joined them with what follows.
"""
import math

from cawb_host.torch import operators
from cawb_host.judge.compare.affine import No


def follow(graph, varied, count):
    """Labels to axes of `count` rows; `varied` have them in their first dimension."""
    axes = {label: (0, 1) for label in varied}
    for number, entry in enumerate(graph, 1):
        given = [(t, axis_of(graph, axes, t)) for t in entry["inputs"]]
        if any(axis for _, axis in given):
            axes["op:%d" % number] = result(entry, given, count)
    return axes


def axis_of(graph, axes, tensor):
    """Of a tensor as an operator takes it; what was written to through a view is not followed."""
    axis, source = axes.get(tensor["source"]), tensor["source"]
    if axis and source.startswith("op:"):
        made = graph[int(source[3:]) - 1]["outputs"]
        if tensor["shape"] not in [o["shape"] for o in made]:
            raise No("%s is written to in part" % source)
    return axis


def result(entry, given, count):
    kind, rows = entry["kind"], operators.find(entry["name"]).rows
    if "partial" in entry["traits"]:
        raise No("%s writes to a part of a tensor" % entry["op"])
    if kind == "view":
        return viewed(entry, rows, given[0][0]["shape"], given[0][1], count)
    rule = RULES.get(rows) or (pointwise if kind == "pointwise" else None)
    if rule is None:
        raise No("%s may mix rows" % entry["op"])
    return rule(entry, given)


def agree(entry, axes):
    found = set(axes)
    if len(found) != 1:
        raise No("%s takes rows that lie differently" % entry["op"])
    return found.pop()


def rank(tensor):
    return len(tensor["shape"])


def dims_of(entry, tensor):
    """The dimensions that an operator is told, of those of a tensor; all without."""
    dims = entry["args"].get("dim", entry["args"].get("dims"))
    dims = list(range(rank(tensor))) if dims is None or dims == [] else dims
    return [d % rank(tensor) for d in (dims if isinstance(dims, list) else [dims])]


def pointwise(entry, given):
    out = entry["outputs"][0]
    dim, length = agree(entry, [(a[0] - rank(t), a[1]) for t, a in given if a])
    for tensor, axis in given:
        if not axis and rank(tensor) >= -dim and tensor["shape"][dim] != 1:
            raise No("%s adds something to each row that does not come with it" % entry["op"])
    return rank(out) + dim, length


def triangle(entry, given):
    dim, length = pointwise(entry, given)
    if dim >= rank(entry["outputs"][0]) - 2:
        raise No("%s goes by a row's number" % entry["op"])
    return dim, length


def padded(entry, given):
    dim, length = pointwise(entry, given)
    if rank(entry["outputs"][0]) - dim <= len(entry["args"]["pad"]) // 2:
        raise No("%s adds rows" % entry["op"])
    return dim, length


def one(entry, given):
    """The axis of an operator's only tensor that has any."""
    if given[0][1] is None or any(axis for _, axis in given[1:]):
        raise No("%s takes rows beside its input" % entry["op"])
    return given[0]


def reduction(entry, given):
    tensor, (dim, length) = one(entry, given)
    dims = dims_of(entry, tensor)
    if dim in dims:
        raise No("%s mixes rows" % entry["op"])
    return (dim if entry["args"].get("keepdim") else dim - sum(d < dim for d in dims)), length


def along(entry, given):
    tensor, (dim, length) = one(entry, given)
    if dim in dims_of(entry, tensor):
        raise No("%s mixes rows" % entry["op"])
    return dim, length


def layer_norm(entry, given):
    tensor, (dim, length) = one(entry, given)
    if dim >= rank(tensor) - len(entry["args"]["normalized_shape"]):
        raise No("%s mixes rows" % entry["op"])
    return dim, length


def batch_norm(entry, given):
    _, (dim, length) = one(entry, given)
    if entry["args"].get("training", True) or dim == 1:
        raise No("%s mixes rows" % entry["op"])
    return dim, length


def batched(entry, given):
    tensor, axis = one(entry, given)
    if axis != (0, 1) or rank(tensor) < 3:
        raise No("%s mixes rows" % entry["op"])
    return axis


def matrices(entry, given):
    """The rows of the left factor, or the columns of the right one."""
    (left, a), (right, b) = given[-2:]
    if a and b or not (a and a[0] == 0 or b and b[0] == 1):
        raise No("%s mixes rows" % entry["op"])
    return checked_added(entry, given, a or b)


def batches(entry, given):
    (left, a), (right, b) = given[-2:]
    if a and b:
        axis = agree(entry, [a, b])
    else:
        axis = a or b
        other = right if a else left
        if axis[0] == 0 and other.get("strides", [1])[0] != 0:
            raise No("%s takes another matrix for each row" % entry["op"])
    if axis[0] > 0 and (a and b or axis[0] != (1 if a else 2)):
        raise No("%s mixes rows" % entry["op"])
    return checked_added(entry, given, axis)


def checked_added(entry, given, axis):
    """A term that is added to a product is added to all rows alike."""
    for tensor, added in given[:-2]:
        at = axis[0] - len(entry["outputs"][0]["shape"])
        if added or rank(tensor) >= -at and tensor["shape"][at] != 1:
            raise No("%s adds something to each row that does not come with it" % entry["op"])
    return axis


def joined(entry, given):
    axis = agree(entry, [a for _, a in given])
    if axis is None or axis[0] in dims_of(entry, given[0][0]):
        raise No("%s joins rows with others" % entry["op"])
    return axis


def attention(entry, given):
    axis = agree(entry, [a for t, a in given if rank(t) == 4])
    if axis != (0, 1):
        raise No("%s mixes rows" % entry["op"])
    return axis


# By an operator's rows in the table of operators.
RULES = {"layer_norm": layer_norm, "batch_norm": batch_norm, "matrices": matrices, "batches": batches,
         "join": joined, "reduce": reduction, "along": along, "batch": batched, "attention": attention,
         "triangle": triangle, "pad": padded}


def viewed(entry, rows, shape, axis, count):
    """Where the rows lie in another view of them."""
    out, (dim, length) = entry["outputs"][0]["shape"], axis
    args = entry["args"]
    if rows == "reshape":
        return split(entry, shape, out, dim, count)
    if rows == "same" and out == shape:
        return axis
    if rows == "reorder":
        return ordered(args, len(shape)).index(dim), length
    if rows == "expand":
        return dim + len(out) - len(shape), length
    if rows == "unsqueeze":
        at = args["dim"] % len(out)
        return dim + (at <= dim), length
    if rows == "squeeze":
        at = [d % len(shape) for d in listed(args.get("dim"), shape)]
        return dim - sum(d < dim and shape[d] == 1 for d in at), length
    if rows == "cut":
        at = args.get("dim", 0) % len(shape)
        if at == dim:
            raise No("%s picks rows" % entry["op"])
        return dim - (at < dim and len(out) < len(shape)), length
    raise No("%s is a view that is not followed" % entry["op"])


def listed(dim, shape):
    """The dimensions of a squeeze: those of length 1, where none is told."""
    if dim is None:
        return [d for d, n in enumerate(shape) if n == 1]
    return dim if isinstance(dim, list) else [dim]


def ordered(args, count):
    """The order of a transpose's dimensions: all are told, two, or none of a matrix."""
    order = list(range(count))
    if "dims" in args:
        return [d % count for d in args["dims"]]
    if "dim0" not in args:
        return order[::-1]
    a, b = args["dim0"] % count, args["dim1"] % count
    order[a], order[b] = order[b], order[a]
    return order


def split(entry, shape, out, dim, count):
    """The rows of a reshaped tensor: as many elements stand before them and in each."""
    before = math.prod(shape[:dim])
    for at in range(len(out)):
        if math.prod(out[:at]) == before and out[at] % count == 0 and out[at] > 0:
            return at, out[at] // count
    raise No("%s cuts rows" % entry["op"])
