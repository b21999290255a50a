"""Facts about a task from a few runs: outputs, the op graph, whether it is deterministic, and its
weights."""
import math
import statistics
import time

import torch

from cawb_host.judge.compare import decided
from cawb_host.judge.compare import freivalds
from cawb_host.judge.inputs import guard
from cawb_host.judge.compare import indices
from cawb_host.judge.inputs import places
from cawb_host.judge import modes
from cawb_host.judge.inputs import whole_numbers
from cawb_host.judge.compare import relations
from cawb_host.base.fault import Fault
from cawb_host.torch.recorder import Recorder
from cawb_host.judge.compare.gpu import Readback
from cawb_host.judge.task.runner import loose_tensors
from cawb_host.judge.task.vary import SHRINKS, STRENGTHS
from cawb_host.base.tensors import copied, mapped, same_bits
from cawb_host.judge.trials import PRIVATE, Trial

OTHER_SEEDS = 4  # tried at load, until inputs and outputs have both changed
FEW = 32         # elements; all of fewer may cancel at once
NEAR = {2: 3e-2, 4: 1e-3, 8: 1e-3}                  # by bytes of an element: normalised rms errors
VISIBLE = {2: 3e-2, 4: 1e-3, 8: 1e-3}               # by bytes of an element: a change that no tolerance hides
PIECE = 1 << 24                                     # elements that are looked at at a time
MORE, WEIGHTS_TIME = 8.0, 1.0                       # times as much as other weights; seconds

FLOATING = ("float64", "float32", "float16", "bfloat16")


class Study:
    """The part of a Workload that runs its task a few times. It uses the Workload's runner, trials, judge and task, and sets the
    fields that describe the task: inputs, graph, notes, deterministic, random, constant, dynamic, ..."""

    def vary(self, seed, weights_seed):
        """Gives the module other weights for which the reference is as exact; returns their names."""
        for strength in STRENGTHS:
            names = self.runner.vary(weights_seed, strength)
            if not names or self.is_sure(seed):
                return self.vary_weak_weights(seed, weights_seed, strength, names)
        self.runner.vary(weights_seed, 0)
        return [] if self.is_sure(seed) else self.shrink(seed, weights_seed)

    def shrink(self, seed, weights_seed):
        """Smaller weights for a chaotic net: a kernel reads them like any others, and PyTorch can tell right from wrong."""
        for shrink in SHRINKS:
            names = self.runner.vary(weights_seed, STRENGTHS[-1], None, shrink)
            if self.is_sure(seed):
                self.held.append("with the task's own weights PyTorch itself is far from float64: it is judged with weights %g times as large" % shrink)
                return names
        return self.runner.vary(weights_seed, 0)

    def vary_weak_weights(self, seed, weights_seed, strength, names):
        """Every weight must show in the output: weights that hardly do are varied more. Weights that do
        not show even then stay in `unseen`."""
        self.unseen = self.hardly_seen(seed, names)
        if self.unseen:
            self.runner.vary(weights_seed, strength, dict.fromkeys(self.unseen, MORE))
            if self.is_sure(seed):
                self.unseen = self.hardly_seen(seed, self.unseen)
            else:
                self.runner.vary(weights_seed, strength)
        return names

    def hardly_seen(self, seed, names):
        """Those of the weights whose constructor's values give nearly the same output; of many, as
        many as there is time for."""
        started, found = time.monotonic(), []
        inputs, own = self.runner.inputs(seed), self.runner.build_own().state_dict()
        before = self.runner.forward(inputs, seed)
        state = self.runner.module.state_dict(keep_vars=True)
        for name in names:
            if time.monotonic() - started > WEIGHTS_TIME:
                break
            tensor = state[name].detach()
            kept = tensor.clone()
            tensor.copy_(own[name])
            after = self.runner.forward(inputs, seed)
            tensor.copy_(kept)
            if not any(differ_visibly(a, b) for (_, a), (_, b) in zip(before, after)):
                found.append(name)
        return found

    def is_sure(self, seed):
        """Whether eager PyTorch is finite, and near float64, on the task's own inputs."""
        try:
            inputs = self.runner.inputs(seed)
            eager, wide = self.runner.forward(inputs, seed), self.runner.forward_wide(inputs, seed)
        except Fault as fault:
            if fault.name in ("device", "memory"):
                raise
            return False
        return all(is_near(a, b) for (_, a), (_, b) in zip(eager, wide or eager) if a.is_floating_point())

    def study(self, seed):
        """Run it a few times: outputs, op graph, is it deterministic, random? Of inputs
        and outputs only marks are kept: large ones are not there twice."""
        trial = Trial(self.trials, seed)
        self.inputs, self.shapes, self.inputs_size = trial.specs, trial.shapes(), trial.share_size
        self.signature = repr(trial.specs)
        self.density = {"inputs": [density(t) for t, _ in trial.leaves()],
                        "params": {n: density(t) for n, t in self.runner.module.state_dict().items()
                                   if isinstance(t, torch.Tensor)}}
        outputs = self.probe(trial, seed)
        if self.runner.changes_inputs and self.inputs_size > PRIVATE:
            trial = Trial(self.trials, seed)
        before = self.marks(t for t, _ in trial.leaves())
        self.deterministic = self.repeats(trial, outputs, seed)
        self.random = self.deterministic and self.outputs_of(trial, seed + 1) != outputs
        if self.runner.free and (self.random or not self.deterministic):
            self.runner.free = False                     # it is cuDNN that does not repeat itself, perhaps
            del trial
            return self.study(seed)
        self.runner.repeatable = self.deterministic and not self.random
        del trial
        self.constant = not self.depends_on_inputs(before, outputs, seed)
        self.note_typical(seed)
        self.add_notes()

    def probe(self, trial, seed):
        """The first call, observed; marks of its outputs."""
        recorder = []

        def mode(module, args):
            recorder.append(Recorder(module, args))
            return recorder[0]

        large = self.inputs_size > PRIVATE
        found = self.runner.probe(trial.inputs if large else mapped(trial.inputs, copied), seed,
                                  mode)
        self.graph, self.notes = recorder[0].entries, recorder[0].notes
        self.dynamic = recorder[0].dynamic
        made = [(t, source) for (_, t), source in zip(found, self.runner.sources)]
        self.trials.places = indices.places(self.graph, made)
        self.trials.relations = relations.Relations(self.runner, self.judge, self.graph,
                                                    trial.inputs, made)
        self.trials.choices = places.Plan(self.graph)
        self.trials.guarded = guard.needed(self.graph)
        self.note_numbers(trial, found)
        self.products = freivalds.Check(self.runner)
        if any(e["kind"] == "matmul" for e in self.graph):
            self.products.accept(trial, [t for _, t in found])
        self.place_outputs(found)
        self.trials.size = (0 if large else self.inputs_size) + sum(
            max(8, 2 * t.element_size()) * t.numel() for _, t in found)
        return self.marks(t for _, t in found)

    def note_numbers(self, trial, found):
        """What is known of the numbers that the task computes with, for inputs/battery.py."""
        scene, alone = self.trials.scene, all(isinstance(x, torch.Tensor) for x in trial.inputs)
        scene.data = whole_numbers.computed_with(self.graph, len(trial.inputs)) if alone else ()
        scene.tables = whole_numbers.tables(self.graph, len(trial.inputs)) if alone else {}
        self.note_held(trial.inputs)
        scene.decides = any(not t.is_floating_point() and not place for (_, t), place in zip(found, self.trials.places))
        scene.pool = numbers_in(self.graph, self.runner.module) if scene.decides else []
        self.trials.ambiguous = decided.ambiguous(self.graph)

    def note_held(self, inputs):
        """What stays the same in all that is tried: a kernel may have it built in."""
        for i, item in enumerate(inputs):
            if isinstance(item, (int, float)) and not isinstance(item, bool):
                self.held.append("input %d is the number %r, which never varies: a kernel may have it built in" % (i + 1, item))
            elif isinstance(item, torch.Tensor) and not item.is_floating_point() and item.dtype != torch.bool and item.numel() > 1 \
                    and i not in self.trials.scene.data and i not in self.trials.scene.tables and bool((item == item.reshape(-1)[0]).all()):
                self.held.append("input %d holds %d everywhere, which never varies: a kernel may have it built in"
                                 % (i + 1, int(item.reshape(-1)[0])))

    def marks(self, tensors):
        """One for each tensor; two are equal where all of the tensors' bits are."""
        if self.judge is None:
            return [Mark(t) for t in tensors]
        back, shapes = Readback(), []
        for tensor in tensors:
            shapes.append((tensor.dtype, tensor.shape, back.add(self.judge.hash(
                tensor.contiguous()))))
        back.read()
        return [(dtype, shape, back.whole(at)) for dtype, shape, at in shapes]

    def outputs_of(self, trial, seed):
        return self.marks(t for _, t in self.runner.forward(trial.inputs, seed))

    def repeats(self, trial, found, seed):
        for i, (a, b) in enumerate(zip(found, self.outputs_of(trial, seed))):
            if a != b:
                self.notes.append("output %d changes from run to run, though the input and the"
                                  " torch seed are the same" % (i + 1))
                return False
        return True

    def depends_on_inputs(self, first, found, seed):
        """Whether inputs and outputs change with the seed. A small output may be
        the same for two seeds by chance, so there are a few."""
        inputs = outputs = False
        for other in range(seed + 1, seed + 1 + OTHER_SEEDS):
            trial = Trial(self.trials, other)
            self.check(trial)
            mine = self.marks(t for t, _ in trial.leaves())
            same = {i for i, (a, b) in enumerate(zip(mine, first)) if a == b}
            self.trials.scene.fixed = same if other == seed + 1 else self.trials.scene.fixed & same
            inputs, elements = inputs or mine != first, sum(t.numel() for t, _ in trial.leaves())
            if inputs and (self.dynamic or not outputs):
                made = self.runner.forward(trial.inputs, seed)
                self.same_shapes(made)
                outputs = outputs or self.marks(t for _, t in made) != found
            if inputs and outputs and not self.dynamic:
                return True
            del trial
        if inputs and outputs:
            return True
        self.notes.append(why_constant(inputs, elements))
        return False

    def same_shapes(self, made):
        """A plan, and a place for outputs, are made for one shape."""
        for i, ((_, tensor), spec) in enumerate(zip(made, self.outputs)):
            if list(tensor.shape) != spec["shape"] or len(made) != len(self.outputs):
                raise self.task.fault("Model.forward", "output %d has the shape %s for some inputs, %s for others of"
                                      " the same shapes: return a tensor of a size that does not depend on data"
                                      " (torch.where or a product with the mask; the indices padded, and how many"
                                      " count)" % (i + 1, spec["shape"], list(tensor.shape)))

    def note_typical(self, seed):
        """How large an output of a few elements usually is, by some seeds: by its own size
        alone one that happens to cancel would be far off."""
        few = [i for i, spec in enumerate(self.outputs)
               if spec["dtype"] in FLOATING and 0 < math.prod(spec["shape"]) < FEW]
        sizes = {i: [] for i in few}
        for other in range(seed, seed + OTHER_SEEDS if few else seed):
            trial = Trial(self.trials, other)
            found = self.runner.forward(trial.inputs, other)
            for i in few:
                sizes[i].append(float(found[i][1].abs().max()))
            del trial
        for i in few:
            finite = [x for x in sizes[i] if math.isfinite(x)]
            if finite:
                self.outputs[i]["typical"] = statistics.median_low(finite)

    def add_notes(self):
        self.notes += self.held
        if self.random:
            self.notes.append(modes.note_of_randomness(self.runner.module))
        if self.runner.changes_module:
            self.notes.append(modes.note_of_changes(self.runner.module))
        if self.task.reseeds:
            self.notes.append("get_inputs() seeds a generator itself; here each call has seeds of its own")
        if self.task.form.written:
            self.notes.append("forward returns nothing; what it wrote, input %s, is its output"
                              % ", ".join(str(i + 1) for i in self.task.form.written))
        elif self.runner.changes_inputs:
            self.notes.append("forward writes to its inputs; every call here gets copies")
        for name in loose_tensors(self.runner.module):
            self.notes.append("the tensor '%s' is neither a parameter nor a buffer: kernels do"
                              " not see it (use register_buffer)" % name)


def why_constant(inputs, elements):
    """Why nothing can be verified, where inputs change with the seed or do not, and have so many elements."""
    if inputs:
        return "the output is the same for different inputs: any constant passes; verification means little"
    if elements == 0:
        return "the inputs have no elements: there is nothing to verify; give them a size that is not 0"
    return ("get_inputs() makes the same inputs for every seed: an output that was seen once passes; verification means"
            " little. Draw them: torch.randn, torch.rand, torch.randint")


MET, SMALL = 256, 4096       # numbers of the pool at most, and elements of a weight of which some are


def numbers_in(graph, module):
    """Numbers that a task's inputs may meet: constants of its operators, and weights of few elements."""
    found = [0.0, 0.5, 1.0]
    for entry in graph:
        found += [float(v) for v in entry["args"].values() if isinstance(v, (int, float)) and not isinstance(v, bool)]
    for tensor in module.state_dict().values():
        if isinstance(tensor, torch.Tensor) and tensor.is_floating_point() and 0 < tensor.numel() <= SMALL:
            found += tensor.reshape(-1)[torch.randperm(tensor.numel(), device=tensor.device)[:64]].tolist()
    return [v for v in dict.fromkeys(found) if math.isfinite(v)][:MET]


def parts(*tensors):
    """The same elements of each, in pieces: of a large output wide copies may be more than there is memory for."""
    vectors = [t.reshape(-1) for t in tensors]
    for start in range(0, vectors[0].numel(), PIECE):
        yield [v[start:start + PIECE] for v in vectors]


def differ_visibly(out, other):
    """Whether two outputs differ by more than any tolerance."""
    if not out.is_floating_point():
        return not torch.equal(out, other)
    error = size = 0.0
    for a, b in parts(out, other):
        a = a.to(torch.float64)
        error += float((a - b).nan_to_num_(nan=0.0, posinf=0.0, neginf=0.0).square_().sum())
        size += float(a.nan_to_num_(nan=0.0, posinf=0.0, neginf=0.0).square_().sum())
    return error > (VISIBLE[out.element_size()] ** 2) * size


def is_near(out, wide):
    """Whether an output is finite where the reference is, and near it on the whole."""
    error = size = 0.0
    for a, b in parts(out, wide):
        finite, b = torch.isfinite(b), b.to(torch.float64)
        if not bool((torch.isfinite(a) | ~finite).all()):
            return False
        error += float(torch.where(finite, a.to(torch.float64) - b, 0.0).square_().sum())
        size += float(torch.where(finite, b, 0.0).square_().sum())
    return error <= (NEAR[out.element_size()] ** 2) * size


def density(tensor):
    """The share of a tensor's elements that are not zero: 1/2 of a triangle."""
    return float((tensor != 0).sum()) / tensor.numel() if tensor.numel() else 1.0


class Mark:
    """A tensor kept to be compared bit by bit."""

    def __init__(self, tensor):
        self.tensor = tensor

    def __eq__(self, other):
        return same_bits(self.tensor, other.tensor)
