"""program_row: the rows of one program of programs.py, which starts it. A row is a line of JSON behind "ROW "."""
import copy
import json
import statistics
import sys
import time

import programs

import torch                                  # pylint: disable=wrong-import-order
from torch._dynamo import utils

import atoms                                  # pylint: disable=unused-import
import cawb
import graphnet
import in_turns
import suite
import turns
import zoo
from cawb import backend
from cawb.backend import check, lowering, packages, report
from torch._subclasses.fake_tensor import FakeTensorMode

BATCHES = {"one": 1, "many": 32, "train": 32}
SMALL = {"one": 1, "many": 2, "train": 2}


# ---- programs and their results

def made(name, mode, given):
    """The program, with the values that a trained one could have: no layer of zeros, and statistics of norms that fit."""
    torch.manual_seed(11)
    try:
        program = zoo.PROGRAMS[name][1](given.small, (SMALL if given.small else BATCHES)[mode])
    except NameError as error:                # a task's text names something that it has not
        raise Unsound("%s: %s" % (type(error).__name__, error)) from error
    if program.is_task:
        return program
    with torch.no_grad():
        for p in program.module.parameters():
            if p.dim() > 1 and not p.any():
                p.normal_(0, 0.02)
    program.module.train(mode == "train" and not program.forces)
    return program


def settle(program):
    """Running statistics of norms are those of the inputs."""
    norms = [m for m in program.module.modules() if isinstance(m, torch.nn.modules.batchnorm._BatchNorm)]     # pylint: disable=protected-access
    if not norms:
        return
    for one in norms:
        one.train()
        one.momentum, one.kept = 1.0, one.momentum
    inputs = [torch.cat([x, torch.randn_like(x)]) for x in program.inputs]
    with torch.no_grad():
        program.module(*inputs)
    for one in norms:
        one.train(program.module.training)
        one.momentum = one.kept


def moved(program, device):
    if device == "cuda":
        program.module.cuda()
        program.inputs = [x.cuda() if isinstance(x, torch.Tensor) else x for x in program.inputs]
    if not program.is_task:
        settle(program)
    return program


def tensors(found):
    return [x for x in (found if isinstance(found, (tuple, list)) else [found]) if isinstance(x, torch.Tensor)]


def results(run, program, mode, inputs=None):
    """What the program is used for: results; an energy and forces; a loss and gradients of all parameters."""
    inputs = inputs or program.inputs
    if mode != "train" and not program.forces:
        with torch.no_grad():
            return tensors(run(*inputs))
    if program.forces and mode != "train":
        places = inputs[0].detach().requires_grad_()
        energy = run(places)
        return [energy.detach(), torch.autograd.grad(energy, places)[0]]
    loss = sum(x.square().mean() for x in tensors(run(*inputs)) if x.is_floating_point())
    parameters = [p for p in program.module.parameters() if p.requires_grad]
    return [loss.detach(), *torch.autograd.grad(loss, parameters, allow_unused=True)]


def exact(program, mode):
    """Results in float64, or None where there is no room."""
    try:
        wide = zoo.Program(copy.deepcopy(program.module).double(), program.inputs, program.forces)
        inputs = [x.double() if isinstance(x, torch.Tensor) and x.is_floating_point() else x for x in program.inputs]
        return results(wide.module, wide, mode, inputs)
    except RuntimeError:
        return None


def compared(found, plain, truth, whose="cawb"):
    fine = True
    for i, (a, b) in enumerate(zip(plain, found, strict=True)):
        if a is None or b is None:
            fine = fine and a is None and b is None
        elif not utils.same(a, b, truth[i] if truth else None, tol=check.TOLERANCE, equal_nan=True):
            print("result %d of %s is wrong" % (i, whose), file=sys.stderr)
            fine = False
    return {"right": fine, "error": distance(found, truth), "eager_error": distance(plain, truth)}


def distance(found, truth):
    """Of all results together, relative to theirs: a gradient that is zero has no relative error of its own."""
    pairs = [(a.double(), b) for a, b in zip(found, truth or []) if a is not None and a.is_floating_point()]
    size = sum(b.square().sum().item() for _, b in pairs)
    return (sum((a - b).square().sum().item() for a, b in pairs) / size) ** 0.5 if size else None


class Unsound(Exception):
    """Eager PyTorch itself does not compute the program."""


def eagerly(program, mode):
    """(eager PyTorch's results, float64's or None)."""
    try:
        plain = results(program.module, program, mode)
    except torch.OutOfMemoryError:
        raise                                 # others may have had it
    except Exception as error:
        raise Unsound("%s: %s" % (type(error).__name__, str(error)[:200])) from error
    truth = exact(program, mode)
    if any(a is not None and a.is_floating_point() and (a.isnan() & ~b.isnan()).any() for a, b in zip(plain, truth or [])):
        raise Unsound("its results are no numbers, where float64's are")
    return plain, truth


# ---- what became of the graphs

def became(fast):
    graphs = report.of(backend.owner_of(fast))
    parts = [p for g in graphs for p in g.parts]
    left = [entry for g in graphs for entry in g.left] + [["a graph", "", p.why] for p in parts if p.why not in (None, "it computes nothing", report.SLOWER)]
    total = sum(p.operators for p in parts) + sum(len(g.left) for g in graphs)
    lost = [p for p in parts if p.runs() != "cawb"]
    slower = sum(p.operators for p in lost if p.why in (None, report.SLOWER))
    fell = sum(p.operators for p in lost) - slower + sum(len(g.left) for g in graphs)
    return {"graphs": len(graphs), "packages": sum(p.kernels > 0 for p in parts), "kernels": sum(p.kernels for p in parts),
            "fell": fell / total if total else 0.0, "slower": slower / total if total else 0.0, "left": left,
            "choices": [t for t in map(choice, [*graphs, *parts]) if t]}


def choice(entry):
    """Milliseconds of a graph's package and of what it was timed beside."""
    return {name: 1e3 * statistics.median(found) for name, found in (entry.times or {}).items()}



class Known:
    """In the place of a package where nothing is executed."""
    hit = None

    def kernels(self):
        return 0


class Unexecuted:
    """In the place of a part: the graph itself, on tensors without data."""

    def __init__(self, module, _recorded, _package, _chip, _options, entry, _other):
        self.module, self.runner, entry.checked = module, None, True


    def __call__(self, *args):
        with torch.no_grad():
            return self.module(*args)

    def callable(self, other=None):
        return other or self


def asked(recorded, chip, _options):
    why, = lowering.refusals(chip.simulated, [recorded.request])
    if why:
        raise packages.Refused(why)
    return Known()


def faked(program, mode):
    def fake(x):
        return mode.from_tensor(x.detach())
    for one in program.module.modules():
        for name, p in one._parameters.items():              # pylint: disable=protected-access
            if p is not None:
                one._parameters[name] = torch.nn.Parameter(fake(p), p.requires_grad)         # pylint: disable=protected-access
        for name, b in one._buffers.items():                 # pylint: disable=protected-access
            one._buffers[name] = fake(b) if b is not None else None                          # pylint: disable=protected-access
    program.inputs = [fake(x) for x in program.inputs]
    return program


def lowered(name, mode, given):
    backend.Part, packages.get = Unexecuted, asked
    program = made(name, mode, given)
    with FakeTensorMode(allow_non_fake_inputs=True) as fake:
        faked(program, fake)
        fast = cawb.compile(program.module, device="sim:h100", cache=None)
        begin = time.perf_counter()
        results(fast, program, mode)
    return {"right": None, "seconds": {"cawb": time.perf_counter() - begin}, **became(fast)}


# ---- a row

def times(runs, program, mode):
    return in_turns.times({name: lambda run=run: results(run, program, mode) for name, run in runs.items()})


def executed(name, mode, given, turn):
    program = made(name, mode, given)
    turn.take()
    program = moved(program, given.device)
    is_gpu, state = given.device == "cuda", copy.deepcopy(program.module.state_dict())
    fast = cawb.compile(program.module, failures=given.store + ".failures", choose=given.choose, **({} if is_gpu else {"device": given.device}))
    plain, truth = eagerly(program, mode)
    program.module.load_state_dict(state)
    turn.give()
    found = results(fast, program, mode)
    turn.take()
    row = compared(found, plain, truth)
    if program.is_task:
        row["close"] = {"cawb": graphnet.least(found, plain)}
    program.module.load_state_dict(state)
    if is_gpu and not compared(results(fast, program, mode), plain, truth)["right"]:       # the first call was checked by the backend itself
        row["right"] = False
    del found, state
    row.update(became(fast))
    if is_gpu:
        runs = {"eager": program.module, "cawb": fast, **rival(program, mode, given, turn, (plain, truth), row)}
        del plain, truth
        row["times"] = times(runs, program, mode)
        row["milliseconds"] = {k: 1e3 * statistics.median(v) for k, v in row["times"].items()}
    return dict(row, seconds=turn.spent())


def rival(program, mode, given, turn, known, row):
    """Inductor's function, if it makes one; the row says how close its results are to those that are `known`, eager PyTorch's and float64's, or
    why there are none."""
    other = turn.inductor(program.module, given.rival)
    turn.give()
    try:
        found = results(other, program, mode)
    except Exception as error:                # pylint: disable=broad-except
        row["inductor"] = "%s: %s" % (type(error).__name__, str(error)[:200])
        turn.seconds.pop("inductor", None)
        return {}
    finally:
        turn.take()
    verdict = compared(found, *known, "Inductor")
    row["inductor_right"], row["inductor_error"] = verdict["right"], verdict["error"]
    if program.is_task:
        row["close"]["inductor"] = graphnet.least(found, known[0])
    return {"inductor": other}


def row_of(name, mode, given, turn):
    torch._dynamo.reset()                     # pylint: disable=protected-access
    try:
        found = lowered(name, mode, given) if given.lower else executed(name, mode, given, turn)
    except ModuleNotFoundError as error:
        return {"missing": "package %s is missing" % error.name}
    except Unsound as error:
        return {"unsound": str(error)}
    except Exception as error:                # pylint: disable=broad-except
        import traceback                      # pylint: disable=import-outside-toplevel
        traceback.print_exc()
        return {"failed": "%s: %s" % (type(error).__name__, str(error)[:600])}
    finally:
        turn.give()
    return dict(found, torch=torch.__version__, chip=given.device if given.device.startswith("sim:") else torch.cuda.get_device_name())


def main():
    given = programs.options()
    torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32 = False, given.tf32
    if given.suite:
        suite.take(given.suite)
    turn = turns.Turns(given.turns)
    turn.watch()
    for mode in given.modes.split(","):
        row = dict(programs.about(given, given.row, mode), **row_of(given.row, mode, given, turn))
        print("ROW " + json.dumps(row), flush=True)


main()
