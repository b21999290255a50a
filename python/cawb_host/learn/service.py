"""The synthesis side of the task host: what its operations `synth_*` ask for. Catalogue and sources
are kept from one request to the next."""
import torch

from cawb_host.base.fault import Fault
from cawb_host.learn import borrowed, draw, examine, similar, timed
from cawb_host.learn.catalogue import Catalogue, described

torch.set_num_threads(1)          # sizes are small, and sums do not depend on how many cores there are

CATALOGUE = Catalogue()
SOURCES = {}


def seeds(request):
    if request.get("borrow", False):
        CATALOGUE.borrow()
    first, count = request["first"], request["count"]
    return {"seeds": [described(seed) for seed in CATALOGUE.all(first, first + count)], "looked": len(CATALOGUE.what),
            "transformers": borrowed.version()}


def drawn(request):
    strange = [name for name in request["only"] if name not in CATALOGUE.what]
    if strange:
        raise Fault("unsupported", "synth.only: there is no %s to draw; cawb synth --seeds lists them" % ", ".join(strange))
    program, refused = draw.draw(CATALOGUE, request["seed"], request["counts"], request["shares"], request["ranks"],
                               request["without"], request["only"])
    reply = {"refused": refused}
    if program is not None:
        taken = sorted({what.licence for what in program.borrowed.values()})
        reply.update(code=program.text(), ops=program.ops, source=borrowed.PACKAGE if taken else "torch")
        if taken:
            reply["licence"] = "; ".join(taken)
    return reply


def names(request):
    """So many drawn seeds of PyTorch, for somebody else to compose."""
    numbers = draw.random.Random(request["seed"])
    shares = {word: share for word, share in request["shares"].items() if word != borrowed.PACKAGE and share > 0} or {"nn": 1}
    return {"names": [CATALOGUE.draw(numbers, shares, request["without"]).name for _ in range(request["count"])]}


def examined(request, path):
    return examine.run(path, request.get("overrides", {}), request["seed"])


def timed_on(request, path, device):
    return {"kinds": timed.run(path, device, request["kinds"], request["samples"], request["budget"], request["seed"])}


def nearest(request):
    path = request["sources"]
    if path not in SOURCES:
        SOURCES[path] = similar.read(path)
    ratio, name = SOURCES[path].nearest(request["code"])
    return {"ratio": ratio, "name": name}
