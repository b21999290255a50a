"""dynamics: a thousand steps of molecular dynamics by an atomistic model under torch.compile(backend="cawb"), beside eager PyTorch and Inductor:
the drift of the energy and seconds a step.

python3 bench/door/dynamics.py [--model schnet] [--steps 1000] [--starts 6] [--device cuda | sim:h100] [--small]

Velocity Verlet at a fixed list of pairs, from one set of places and several sets of velocities. The drift is the slope of the total energy,
fitted to all steps, times their number, per atom; its spread is that of the energy around the fit. The integrator has a drift of its own,
which is that in float64: float32's part of a drift is its distance from float64's of the same start. All are in the model's own unit, as
weights are random; of several starts the root mean square is printed.
"""
import argparse
import json
import pathlib
import statistics
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "python")]

import torch                                  # noqa: E402  pylint: disable=wrong-import-position
import atoms                                  # noqa: E402,F401  pylint: disable=wrong-import-position,unused-import
import cawb                                   # noqa: E402  pylint: disable=wrong-import-position
import zoo                                    # noqa: E402  pylint: disable=wrong-import-position

STEP, HEAT = 2e-3, 0.05                       # of time, and of velocities; masses are 1


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="schnet")
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--starts", type=int, default=6)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--small", action="store_true")
    return parser.parse_args()


def forces(run, places):
    places = places.detach().requires_grad_()
    energy = run(places)
    return energy.detach(), -torch.autograd.grad(energy, places)[0]


def simulate(run, places, steps, start):
    """Total energies of all steps, the last places, and seconds a step."""
    speeds = torch.randn(places.shape, generator=torch.Generator().manual_seed(start)).to(places) * HEAT
    energy, force = forces(run, places)       # compiles
    energies, begin = [], time.perf_counter()
    for _ in range(steps):
        speeds = speeds + 0.5 * STEP * force
        places = places + STEP * speeds
        energy, force = forces(run, places)
        speeds = speeds + 0.5 * STEP * force
        energies.append(energy.double() + 0.5 * speeds.double().square().sum())
    found = torch.stack(energies).flatten().cpu()
    return found, places, (time.perf_counter() - begin) / steps


def fitted(energies, atoms_count):
    """(drift, spread) per atom."""
    times = torch.linspace(-0.5, 0.5, len(energies), dtype=torch.float64)
    away = energies - energies.mean()
    slope = (times * away).sum() / times.square().sum()
    return slope.item() / atoms_count, (away - slope * times).std().item() / atoms_count


def row(run, places, given, start):
    energies, last, seconds = simulate(run, places, given.steps, start)
    drift, spread = fitted(energies, len(places))
    return {"start": start, "drift": drift, "spread": spread, "seconds a step": seconds, "apart": (last.double() - places.double()).norm().item()}


def squares(values):
    return statistics.mean(x * x for x in values) ** 0.5


def told(name, rows, exact):
    """A line of the table."""
    of_float32 = squares(one["drift"] - other["drift"] for one, other in zip(rows, exact))
    print("%-9s drift %.2e, float32's part %.2e, spread %.2e an atom; %.3g ms a step" % (
        name, squares(one["drift"] for one in rows), of_float32, squares(one["spread"] for one in rows),
        1e3 * statistics.median(one["seconds a step"] for one in rows)), flush=True)


def main():
    given = options()
    torch.manual_seed(11)
    program = zoo.PROGRAMS[given.model][1](given.small, 1)
    model, (places,) = program.module.eval(), program.inputs
    on_gpu = given.device == "cuda"
    model, places = (model.cuda(), places.cuda()) if on_gpu else (model, places)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    runs = {"cawb": cawb.compile(model, **({} if on_gpu else {"device": given.device})), "eager": model}
    if on_gpu:
        runs["inductor"] = torch.compile(model)
    rows = {name: [row(run, places, given, start) for start in range(given.starts)] for name, run in runs.items()}
    explained = cawb.explain(runs["cawb"])
    rows["float64"] = [row(model.double(), places.double(), given, start) for start in range(given.starts)]
    print("%s, %d atoms, %d steps from each of %d starts" % (given.model, len(places), given.steps, given.starts))
    for name, found in rows.items():
        told(name, found, rows["float64"])
    print(explained)
    print(json.dumps({"model": given.model, "steps": given.steps, "device": torch.cuda.get_device_name() if on_gpu else given.device, **rows}))


main()
