"""partition: a graph that the compiler refuses as a whole is cut: what it takes becomes packages, the rest the fallback's."""
import operator

import torch
from torch.fx.passes.infra.partitioner import CapabilityBasedPartitioner
from torch.fx.passes.operator_support import OperatorSupportBase

from cawb.backend import lowering, recording


def value_of(node):
    return node.meta.get("val")


def alone(node):
    """A graph of this one operator, and the values of its arguments; raises Refused where a value is not known."""
    graph, values = torch.fx.Graph(), []

    def take(argument):
        if not isinstance(value_of(argument), (torch.Tensor, int, float, bool)):
            raise recording.Refused("the value of an operand is not known")
        values.append(value_of(argument))
        return graph.placeholder("x%d" % len(values))
    known = {}
    made = graph.create_node("call_function", node.target,
                             *torch.fx.node.map_arg((node.args, node.kwargs), lambda n: known.setdefault(n, None) or known.update({n: take(n)}) or known[n]))
    made.meta = node.meta
    values_out = value_of(node)
    if isinstance(values_out, (tuple, list)):
        items = [graph.call_function(operator.getitem, (made, i)) for i, v in enumerate(values_out)
                 if isinstance(v, torch.Tensor) and any(user.args[1] == i for user in node.users)]
        graph.output(tuple(items))
    else:
        graph.output((made,))
    return torch.fx.GraphModule(torch.nn.Module(), graph), values


def request_of(node, own):
    """The record of one operator alone: None if there is nothing to compute. Raises Refused."""
    try:
        recorded = recording.record(*alone(node), own=own)
    except recording.Refused:
        raise
    except Exception as error:           # pylint: disable=broad-except   # an operator that does not run alone
        raise recording.Refused(str(error).split("\n", 1)[0]) from None
    return recorded.request if recorded.made else None


def refused(module, chip):
    """{node: why} of the operators that the compiler does not take alone."""
    found, requests, nodes = {}, [], []
    for node in module.graph.nodes:
        if node.op != "call_function" or node.target is operator.getitem:
            continue
        try:
            request = request_of(node, lowering.operators(chip.simulated))
        except recording.Refused as why:
            found[node] = str(why)
            continue
        if request:
            requests.append(request)
            nodes.append(node)
    for node, why in zip(nodes, lowering.refusals(chip.simulated, requests)):
        if why:
            found[node] = why
    return found


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
