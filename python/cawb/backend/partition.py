"""partition: a graph that the compiler refuses as a whole is cut: what it takes becomes packages, the rest the fallback's."""
import operator

import torch
from torch.fx.passes.infra.partitioner import CapabilityBasedPartitioner
from torch.fx.passes.operator_support import OperatorSupportBase

from cawb.backend import lowering, recording


aten = torch.ops.aten
LIKE = (aten.bernoulli.p, aten.rand_like.default, aten.randn_like.default)         # of the first argument the size counts


def value_of(node):
    return node.meta.get("val")


def alone(node):
    """A graph of this one operator, and the values of its arguments; raises Refused where a value is not known."""
    graph, values, known = torch.fx.Graph(), [], {}

    def take(argument):
        if not isinstance(value_of(argument), (torch.Tensor, int, float, bool)):
            raise recording.Refused("the value of an operand is not known")
        if argument not in known:
            values.append(value_of(argument))
            known[argument] = graph.placeholder("x%d" % len(values))
        return known[argument]
    args, kwargs = torch.fx.node.map_arg((node.args, node.kwargs), take)
    made = graph.call_function(node.target, args, kwargs)
    made.meta = node.meta
    if isinstance(value_of(node), (tuple, list)):
        items = [graph.call_function(operator.getitem, (made, i)) for i, v in enumerate(value_of(node))
                 if isinstance(v, torch.Tensor) and any(user.args[1] == i for user in node.users)]
        graph.output(tuple(items))
    else:
        graph.output((made,))
    return torch.fx.GraphModule(torch.nn.Module(), graph), values


def request_of(node, own):
    """The record of one operator alone: None if there is nothing to compute. Raises Refused."""
    recorded = recording.record(*alone(node), own=own)
    return recorded.request if recorded.made else None


def signature(node):
    """What an operator's refusal follows from: layers of a net have the same operators of the same sizes again and again."""
    def told(argument):
        value = value_of(argument)
        return repr((value.shape, value.stride(), value.dtype)) if isinstance(value, torch.Tensor) else repr(value)
    users = sorted(user.args[1] for user in node.users if user.target is operator.getitem)
    return repr((node.target, torch.fx.node.map_arg((node.args, node.kwargs), told), users))


def refused(module, chip):
    """{node: why} of the operators that the compiler does not take alone."""
    why, requests, own = {}, {}, lowering.operators(chip.simulated)
    nodes = [n for n in module.graph.nodes if n.op == "call_function" and n.target is not operator.getitem]
    signatures = {node: signature(node) for node in nodes}
    for node in nodes:
        one = signatures[node]
        if one in why or one in requests:
            continue
        try:
            requests[one] = request_of(node, own)
        except recording.Refused as error:
            why[one] = str(error).split("\n", 1)[0]               # what follows is of the interpreter of graphs
    asked = [one for one, request in requests.items() if request]
    found = lowering.refusals(chip.simulated, [requests[one] for one in asked])
    why.update((one, reason and reason.partition(" cannot be lowered: ")[2] or reason) for one, reason in zip(asked, found))
    return {node: why[signatures[node]] for node in nodes if why.get(signatures[node])}


# ---- random numbers

def is_in_one_piece(tensor):
    """Whether it is a contiguous tensor whose dimensions were permuted."""
    return tensor.permute(sorted(range(tensor.dim()), key=lambda d: -tensor.stride(d))).is_contiguous()


def drawn(graph, node):
    """Lets a node of no values of the graph but sizes draw what `node` draws. Returns the nodes that are there for it alone; None where
    `node` draws nothing, or is as it should be."""
    x, kind = node.args[0] if node.args else None, node.target
    if not isinstance(x, torch.fx.Node) or not isinstance(value_of(x), torch.Tensor):
        return None
    if kind not in LIKE and not (kind is aten.native_dropout.default and node.args[2] and 0 < node.args[1] < 1):
        return None

    def add(target, *args, **kwargs):
        made = graph.call_function(target, args, kwargs)
        values = torch.fx.node.map_arg((args, kwargs), value_of)
        with value_of(x).fake_mode:
            made.meta = dict(node.meta, val=target(*values[0], **values[1]))
        return made
    about = value_of(x)
    with graph.inserting_before(node):
        ones = [add(aten.full.default, list(about.shape), 1.0, dtype=about.dtype, device=about.device)]
        if not about.is_contiguous() and is_in_one_piece(about):                # numbers are drawn in the order of memory
            ones.append(add(aten.as_strided.default, ones[0], list(about.shape), list(about.stride())))
        made = add(kind, ones[-1], *node.args[1:], **node.kwargs)
        if kind is not aten.native_dropout.default:
            node.replace_all_uses_with(made)
            return ones
        mask = add(operator.getitem, made, 1)
        dropped = add(aten.mul.Tensor, add(aten.mul.Tensor, x, mask), 1 / (1 - node.args[1]))
    for user in list(node.users):
        user.replace_all_uses_with(mask if user.args[1] else dropped)
        graph.erase_node(user)
    return ones


def draw_first(module):
    """Lets what draws random numbers depend on nothing, so that it is a part of its own and cuts no other: dropout is a product with a
    mask. Returns {node: why} of what belongs to that part and is no operator of the program's."""
    apart = {}
    for node in list(module.graph.nodes):
        nodes = drawn(module.graph, node) if node.op == "call_function" else None
        if nodes:
            module.graph.erase_node(node)
            apart.update(dict.fromkeys(nodes, "it is there for random numbers"))
    module.recompile()
    return apart


class Taken(OperatorSupportBase):
    def __init__(self, bad, wanted):
        self.bad, self.wanted = bad, wanted

    def is_node_supported(self, _submodules, node):
        if node.op != "call_function":
            return False
        source = node.args[0] if node.target is operator.getitem else node
        return (source not in self.bad) == self.wanted


def moves_only(partition):
    """Whether a partition computes nothing."""
    return all(n.target is operator.getitem or getattr(n.target, "is_view", False) for n in partition.nodes)


def cut(module, bad, wanted):
    """Fuses what is taken (or, where not `wanted`, what is not) into modules of its own; returns the nodes that call them."""
    partitioner = CapabilityBasedPartitioner(module, Taken(bad, wanted), allows_single_node_partition=True)
    chosen = [p for p in partitioner.propose_partitions() if not moves_only(p)]
    prefix = "taken_" if wanted else "left_"
    fused = partitioner.fuse_partitions(chosen, prefix=prefix)
    return fused, [n for n in fused.graph.nodes if n.op == "call_module" and n.target.startswith(prefix)]


class Called(torch.nn.Module):
    """A function in the place of a fused module. Functions here return tuples; such a module may return one tensor."""

    def __init__(self, run, single):
        super().__init__()
        self.run, self.single = run, single

    def forward(self, *args):
        results = self.run(*args)
        return results[0] if self.single else results


def replace(module, call, make):
    """Puts make(fused module, its arguments without data) in the place of the fused module that a node calls."""
    inner = getattr(module, call.target)
    result, = inner.graph.find_nodes(op="output")
    single = not isinstance(result.args[0], (tuple, list))
    if single:
        result.args = ((result.args[0],),)
        inner.recompile()
    setattr(module, call.target, Called(make(inner, [value_of(a) if isinstance(a, torch.fx.Node) else a for a in call.args]), single))
