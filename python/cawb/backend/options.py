"""options: what torch.compile(model, backend="cawb", options={...}) takes."""
import dataclasses
import os

CHOICES = {
    "choose": ("measured", "verified", "always"),
    "fallback": ("auto", "inductor", "eager"),
}
PATH = (str, os.PathLike)
KINDS = {"cache": ((*PATH, type(None)), "a folder or None"), "failures": (PATH, "a folder"),
         "report": ((*PATH, type(None)), "a file or None"), "cuda_graph": (int, "a whole number"), "sizes": (int, "a whole number")}


def own_folder():
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, "cawb", "backend")


@dataclasses.dataclass
class Options:
    """`device`: "auto" is the GPU of the tensors; "sim:h100" executes the kernels of tensors on the processor. `choose`: what
    has to be shown before a package stays: "measured" that it is right and no slower than the fallback, "verified" that it is
    right, "always" nothing. `cache`: packages are kept there; None: nowhere. `failures`: what failed, to be reproduced.
    `report`: a page that is written anew whenever something is known. `cuda_graph`: the least kernels for a graph; 0: never."""
    device: str = "auto"
    choose: str = "measured"
    fallback: str = "auto"
    cache: str | None = dataclasses.field(default_factory=lambda: os.path.join(own_folder(), "packages"))
    failures: str = dataclasses.field(default_factory=lambda: os.path.join(own_folder(), "failures"))
    report: str | None = None
    cuda_graph: int = 3
    sizes: int = 8

    def __post_init__(self):
        for name, (kind, words) in KINDS.items():
            if not isinstance(getattr(self, name), kind):
                raise ValueError("cawb: %s is %s, not %r" % (name, words, getattr(self, name)))
        for name, values in CHOICES.items():
            if getattr(self, name) not in values:
                raise ValueError("cawb: %s is one of %s, not %r" % (name, ", ".join(values), getattr(self, name)))
        if self.device != "auto" and not str(self.device).startswith("sim:"):
            raise ValueError("cawb: device is \"auto\" or a simulated one such as \"sim:h100\", not %r" % self.device)


def read(given):
    """Options from the dictionary that torch.compile passes on."""
    if given is not None and not isinstance(given, dict):
        raise ValueError("cawb: options is a dictionary such as {\"device\": \"sim:h100\"}, not %r" % (given,))
    known = [field.name for field in dataclasses.fields(Options)]
    for name in given or {}:
        if name not in known:
            raise ValueError("cawb: there is no option %r; there are %s" % (name, ", ".join(known)))
    return Options(**(given or {}))
