"""Which inputs a task is linear in, by its operators: f(2 x - y) = 2 f(x) - f(y).

The weights add up to 1, so that what is added (a bias, another input) does not disturb.
"""
AFFINE = {"add", "sub", "rsub", "neg", "sum", "mean", "clone", "copy", "cat", "stack", "flip", "roll",
          "tril", "triu", "cumsum", "constant_pad_nd", "index_select", "gather", "masked_fill", "where",
          "avg_pool2d", "avg_pool3d", "_adaptive_avg_pool2d", "_adaptive_avg_pool3d", "repeat",
          "fill", "zero", "upsample_nearest1d", "upsample_nearest2d", "upsample_nearest3d",
          "upsample_linear1d", "upsample_bilinear2d", "upsample_trilinear3d", "index", "diagonal_copy",
          "select_scatter", "slice_scatter"}
FACTORS = {"mul": ("self", "other"), "div": ("self",), "mm": ("self", "mat2"), "bmm": ("self", "mat2"),
           "addmm": ("mat1", "mat2"), "baddbmm": ("batch1", "batch2"), "mv": ("self", "vec"),
           "dot": ("self", "tensor"), "convolution": ("input", "weight"),
           "cudnn_convolution": ("self", "weight")}
ADDED = {"addmm": ("self",), "baddbmm": ("self",), "convolution": ("bias",)}


class No(Exception):
    """Why there is no such relation."""


def name_of(entry):
    parts = entry["op"].split(".")
    name = parts[1] if len(parts) > 1 else parts[0]
    return name[:-1] if name.endswith("_") and not name.endswith("__") else name


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
    name = name_of(entry)
    floats = all("float" in t["dtype"] for t in dependent + entry["outputs"])
    if not floats:
        raise No("%s makes or takes whole numbers" % entry["op"])
    if entry["kind"] == "view" or name in AFFINE or name == "_to_copy":
        return
    if name not in FACTORS or entry["args"].get("rounding_mode"):
        raise No("%s is not linear" % entry["op"])
    factors = [t for t in dependent if t["arg"] in FACTORS[name]]
    others = [t for t in dependent if t["arg"] not in FACTORS[name] + ADDED.get(name, ())]
    if others or len(factors) > 1:
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
