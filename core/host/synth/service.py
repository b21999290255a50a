"""The synthesis side of the task host: what its operations `synth_*` ask for. Catalogue and sources
are kept from one request to the next."""
import torch

from host.synth import draw, examine, similar
from host.synth.catalogue import Catalogue, described

torch.set_num_threads(1)          # sizes are small, and sums do not depend on how many cores there are

CATALOGUE = Catalogue()
SOURCES = {}


def seeds():
    return {"seeds": [described(seed) for seed in CATALOGUE.all()], "looked": len(CATALOGUE.what)}


def drawn(request):
    program, refused = draw.draw(CATALOGUE, request["seed"], request["counts"], request["shares"], request["ranks"])
    reply = {"refused": refused}
    if program is not None:
        reply.update(code=program.text(), ops=program.ops, source="torch")
    return reply


def names(request):
    """So many drawn seeds, for somebody else to compose."""
    numbers = draw.random.Random(request["seed"])
    return {"names": [CATALOGUE.draw(numbers, request["shares"]).name for _ in range(request["count"])]}


def examined(request, path):
    return examine.run(path, request.get("overrides", {}), request["seed"])


def nearest(request):
    path = request["sources"]
    if path not in SOURCES:
        SOURCES[path] = similar.read(path)
    ratio, name = SOURCES[path].nearest(request["code"])
    return {"ratio": ratio, "name": name}
