"""Which inputs a task is linear in, by its operators: f(2 x - y) = 2 f(x) - f(y).

The weights add up to 1, so that what is added (a bias, another input) does not disturb.
"""


class No(Exception):
    """Why there is no such relation."""


def follow(graph, varied):
    """Which operators' results depend on these inputs; No where one is not affine in them."""
    moved = set(varied)
    for number, entry in enumerate(graph, 1):
        dependent = [t for t in entry["inputs"] if t["source"] in moved]
        if not dependent:
            continue
        refuse(entry, dependent)
        moved.add("op:%d" % number)
    return moved


def refuse(entry, dependent):
    traits = entry["traits"]
    floats = all("float" in t["dtype"] for t in dependent + entry["outputs"])
    if not floats:
        raise No("%s makes or takes whole numbers" % entry["op"])
    if entry["kind"] == "view":
        return
    linear, factors = traits.get("linear", []), traits.get("factors", [])
    others = [t for t in dependent if t["arg"] not in linear + factors]
    if others or sum(t["arg"] in factors for t in dependent) > 1:
        raise No("%s is not linear" % entry["op"])


def inputs(graph, candidates):
    """The most of these inputs that the task is linear in together, first come first; No where
    it is in none."""
    found, why = [], None
    for label in candidates:
        try:
            follow(graph, found + [label])
            found.append(label)
        except No as error:
            why = why or error
    if not found:
        raise why or No("no input is a tensor of floating-point numbers")
    return found
