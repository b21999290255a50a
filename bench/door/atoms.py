"""atoms: four atomistic models for zoo.py: energies and forces. Pairs of atoms are found ahead, as simulations do between their steps."""
import numpy
import torch

from zoo import Program, group, part

CUTOFF = 5.0
KINDS = [1, 6, 7, 8]


def molecules(small, batch, seed=7):
    """Kinds and places of atoms, and pairs nearer than CUTOFF: of several molecules far from each other."""
    draw, count = numpy.random.default_rng(seed), 6 if small else 32
    side = int(numpy.ceil(count ** (1 / 3)))
    grid = numpy.stack(numpy.meshgrid(*[numpy.arange(side)] * 3, indexing="ij"), -1).reshape(-1, 3)[:count] * 1.5
    places = numpy.concatenate([grid + draw.normal(0, 0.15, grid.shape) + [100 * i, 0, 0] for i in range(batch)])
    apart = numpy.linalg.norm(places[:, None] - places[None], axis=-1)
    pairs = numpy.nonzero((apart < CUTOFF) & (apart > 0))
    kinds = draw.choice(KINDS, len(places))
    return torch.tensor(kinds.tolist()), torch.tensor(places.tolist()), torch.tensor([pairs[0].tolist(), pairs[1].tolist()])


class Pairs(torch.nn.Module):
    """In the place of a search of neighbours: (pairs, distances[, vectors])."""

    def __init__(self, pairs, vectors):
        super().__init__()
        self.register_buffer("pairs", pairs)
        self.vectors = vectors

    def forward(self, places, _batch):
        apart = places[self.pairs[0]] - places[self.pairs[1]]
        return (self.pairs, apart.norm(dim=-1), apart) if self.vectors else (self.pairs, apart.norm(dim=-1))


class Energy(torch.nn.Module):
    """The energy of all molecules together, of places alone."""

    def __init__(self, module, kinds, energy):
        super().__init__()
        self.module, self.energy = module, energy
        self.register_buffer("kinds", kinds)

    def forward(self, places):
        return self.energy(self.module, self.kinds, places)


def program(module, kinds, places, energy):
    return Program(Energy(module, kinds, energy), [places], forces=True)


class Sum(torch.nn.Module):
    def forward(self, found, _batch, dim):
        return found.sum(dim)


def schnet(small, batch):
    kinds, places, pairs = molecules(small, batch)
    module = part("torch_geometric.nn").SchNet(*((16, 16, 2, 10) if small else (128, 128, 6, 50)), interaction_graph=Pairs(pairs, False))
    module.readout = Sum()
    return program(module, kinds, places, lambda m, z, x: m(z, x).sum())


def visnet(small, batch):
    kinds, places, pairs = molecules(small, batch)
    module = part("torch_geometric.nn.models.visnet").ViSNet(**({"hidden_channels": 16, "num_heads": 2, "num_layers": 2, "num_rbf": 8} if small else {}))
    loops = torch.arange(len(kinds)).repeat(2, 1)
    module.representation_model.distance = Loops(torch.cat([pairs, loops], 1))

    def energy(m, z, x):
        scalars, vectors = m.representation_model(z, x, torch.zeros_like(z))
        return m.output_model.pre_reduce(scalars, vectors).sum()
    return program(module, kinds, places, energy)


class Loops(Pairs):
    """Each atom is a pair with itself too: the last ones, at distance 0."""

    def __init__(self, pairs):
        super().__init__(pairs, True)

    @torch.compiler.disable                                # the program writes to a result, which a compiled function may have saved
    def forward(self, places, _batch):
        apart = places[self.pairs[0]] - places[self.pairs[1]]
        others = self.pairs.shape[1] - len(places)
        far = torch.cat([apart[:others].norm(dim=-1), places.new_zeros(len(places))])
        return self.pairs, far, apart.clone()


def triplets(pairs):
    """(i, j, k, number of the pair k -> j, number of the pair j -> i) of all paths k -> j -> i."""
    source, target = pairs.tolist()
    into = {}
    for number, (j, i) in enumerate(zip(source, target)):
        into.setdefault(i, []).append((number, j))
    found = [(i, j, k, number, other) for other, (j, i) in enumerate(zip(source, target)) for number, k in into[j] if k != i]
    return [torch.tensor(list(column)) for column in zip(*found)]


def dimenet(small, batch):
    kinds, places, pairs = molecules(small, batch if small else max(1, batch // 4))
    library = part("torch_geometric.nn.models.dimenet")
    size = (16, 1, 2, 8, 4, 16, 3, 3) if small else (128, 1, 4, 64, 8, 256, 7, 6)
    module = library.DimeNetPlusPlus(*size, output_initializer="glorot_orthogonal")
    paths = triplets(pairs)
    for number, one in enumerate([pairs, *paths]):
        module.register_buffer("known%d" % number, one)
    library.radius_graph = lambda *_, **__: module.known0
    library.triplets = lambda *_, **__: (module.known0[1], module.known0[0], *(getattr(module, "known%d" % n) for n in range(1, 6)))
    return program(module, kinds, places, lambda m, z, x: m(z, x).sum())


def mace(small, batch):
    kinds, places, pairs = molecules(small, batch)
    blocks, irreps = part("mace.modules"), part("e3nn.o3").Irreps
    chosen = blocks.interaction_classes["RealAgnosticResidualInteractionBlock"]
    module = blocks.ScaleShiftMACE(
        atomic_inter_scale=1.0, atomic_inter_shift=0.0, r_max=CUTOFF, num_bessel=8, num_polynomial_cutoff=5, max_ell=1 if small else 3,
        interaction_cls=chosen, interaction_cls_first=chosen, num_interactions=2, num_elements=len(KINDS),
        hidden_irreps=irreps("4x0e + 4x1o" if small else "64x0e + 64x1o"), MLP_irreps=irreps("8x0e" if small else "16x0e"),
        atomic_energies=numpy.zeros(len(KINDS)), avg_num_neighbors=12.0, atomic_numbers=KINDS, correlation=2 if small else 3,
        gate=torch.nn.functional.silu, radial_MLP=[8] if small else [64, 64, 64]).float()
    count = len(kinds)
    node = (kinds[:, None] == torch.tensor(KINDS)).float()
    others = {"edge_index": pairs, "shifts": torch.zeros(pairs.shape[1], 3), "unit_shifts": torch.zeros(pairs.shape[1], 3),
              "cell": torch.zeros(3, 3), "node_attrs": node, "batch": torch.zeros(count, dtype=torch.long),
              "ptr": torch.tensor([0, count]), "head": torch.zeros(1, dtype=torch.long)}
    for name, one in others.items():
        module.register_buffer("given_" + name, one)

    def energy(m, _kinds, x):
        data = {name: getattr(m, "given_" + name) for name in others}
        return m(dict(data, positions=x), compute_force=False)["interaction_energy"].sum()
    return program(module, kinds, places, energy)


group("atomistic")(mace=mace, schnet=schnet, visnet=visnet, dimenet=dimenet)
