"""A loaded task with its shares: what `load` makes and `unload` ends."""
import ctypes
import hashlib
import math
import statistics

import torch

from host.judge import admission
from host.judge import freivalds
from host.judge import indices
from host.judge import relations
from host.wire.fault import Fault
from host.graph.recorder import Recorder
from host.judge.judge import Judge, Readback
from host.task.runner import Runner, loose_tensors
from host.wire.share import open_share
from host.task.source import Task
from host.wire.tensors import Layout, copied, mapped, number, same_bits, store, values_of, view
from host.trials import PRIVATE, Trial, Trials
from host.judge.watch import Shared

OTHER_SEEDS = 4  # tried at load, until inputs and outputs have both changed
FEW = 32         # elements; all of fewer may cancel at once

MOST_SLOTS = 8                                      # copies of all outputs in their share,
SLOT_BYTES = {"cuda": 256 << 20, "cpu": 64 << 20}   # as long as they fit in this

FLOATING = ("float64", "float32", "float16", "bfloat16")

RESERVE = 4 << 30        # bytes of GPU memory that others should find free

class Workload:
    def __init__(self, path, device, overrides, init_seed, judge=None):
        self.device = device
        self.task = Task(path, overrides)
        self.runner = Runner(self.task, device, init_seed)
        self.current = self.judge = None
        self.shares = []
        self.baselines, self.stopwatch = {}, None    # see host/baselines/baseline.py
        self.jailed = {}                             # see host/judge/python_candidate.py
        try:
            self.judge = Judge(judge, device) if judge else None
            self.trials = Trials(self.runner, self.judge)
            self.study(init_seed)
            self.release()
            self.place_parameters()
            self.place_inputs_outputs()
        except BaseException:
            self.close()
            raise

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
        self.runner.repeatable = self.deterministic and not self.random
        del trial
        self.constant = not self.moves(before, outputs, seed)
        self.note_typical(seed)
        self.remark()

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
        made = [(t, source) for (_, t), source in zip(found, self.runner.sources)]
        self.trials.places = indices.places(self.graph, made)
        self.trials.relations = relations.Relations(self.runner, self.judge, self.graph,
                                                    trial.inputs, made)
        self.products = freivalds.Check(self.runner)
        if any(e["kind"] == "matmul" for e in self.graph):
            self.products.accept(trial, [t for _, t in found])
        self.place_outputs(found)
        self.trials.size = (0 if large else self.inputs_size) + sum(
            max(8, 2 * t.element_size()) * t.numel() for _, t in found)
        return self.marks(t for _, t in found)

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

    def moves(self, first, found, seed):
        """Whether inputs and outputs change with the seed. A small output may be
        the same for two seeds by chance, so there are a few."""
        inputs = outputs = False
        for other in range(seed + 1, seed + 1 + OTHER_SEEDS):
            trial = Trial(self.trials, other)
            self.check(trial)
            inputs = inputs or self.marks(t for t, _ in trial.leaves()) != first
            outputs = outputs or (inputs and self.outputs_of(trial, seed) != found)
            if inputs and outputs:
                return True
            del trial
        self.notes.append(("the output is the same for different inputs: any constant passes;"
                           if inputs else "get_inputs() makes the same inputs for every seed: an"
                           " output that was seen once passes;") + " verification means little")
        return False

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

    def remark(self):
        if self.random:
            self.notes.append("the outputs depend on torch's random state (dropout?): no kernel"
                              " can repeat them; switch it off in the task")
        if self.runner.changes_module:
            self.notes.append("forward changes the module's own state; every call here starts"
                              " from a fresh copy")
        if self.runner.changes_inputs:
            self.notes.append("forward writes to its inputs; every call here gets copies")
        for name in loose_tensors(self.runner.module):
            self.notes.append("the tensor '%s' is neither a parameter nor a buffer: kernels do"
                              " not see it (use register_buffer)" % name)

    def place_outputs(self, found):
        layout = Layout()
        self.outputs = []
        for i, (name, tensor) in enumerate(found):
            with self.task.located("Model.forward"):
                spec = layout.add(tensor, "output %d" % (i + 1))
            place = self.trials.places[i]
            self.outputs.append(dict(spec, **named(name), **({"index": place.name} if place else {})))
        self.outputs_size = layout.size

    def place_parameters(self):
        layout, module = Layout(), self.runner.module
        own = {name for name, _ in module.named_parameters(remove_duplicate=False)}
        state = [(n, t) for n, t in module.state_dict().items() if isinstance(t, torch.Tensor)]
        with self.task.located("Model.__init__"):
            self.params = [dict(layout.add(t, "parameter '%s'" % n), name=n,
                                kind="parameter" if n in own else "buffer") for n, t in state]
        self.params_size = layout.size
        self.params_share = self.share(layout.size, "params")
        for spec, (_, tensor) in zip(self.params, state):
            store(self.params_share.memory, spec, tensor.detach())
        self.param_count = sum(p.numel() for p in module.parameters())

    def place_inputs_outputs(self):
        self.inputs_share = self.share(self.inputs_size, "inputs")
        most = SLOT_BYTES[self.device.type] // max(1, self.outputs_size)
        self.slots = max(1, min(MOST_SLOTS, most))
        self.outputs_share = self.share(self.slots * self.outputs_size, "outputs")
        self.poisoned = self.outputs_share.memory[:self.slots * self.outputs_size].view(torch.int32)
        self.shared = Shared(self)
        self.settle()

    def share(self, size, label):
        self.shares.append(open_share(size, self.device, label))
        return self.shares[-1]

    def describe(self):
        task = self.task
        reply = {
            "task": {"name": task.name, "path": task.path, "class_doc": task.doc(),
                     "source_sha256": task.sha256, "constants": task.constants,
                     "forward_line": task.line("Model.forward")},
            "params": self.params, "inputs": self.inputs, "outputs": self.outputs,
            "graph": self.graph, "sources": self.runner.sources, "memory": self.runner.memory, "deterministic": self.deterministic, "random": self.random,
            "constant": self.constant, "param_count": self.param_count, "notes": self.notes,
            "params_share": self.params_share.describe(),
            "inputs_share": self.inputs_share.describe(),
            "outputs_share": self.outputs_share.describe(),
            "relations": self.trials.relations.describe(), "density": self.density, **freivalds.describe(self.graph, self.products),
            "slots": self.slots, "outputs_stride": self.outputs_size}
        return reply, [s.fd for s in self.shares if s.fd >= 0]

    def begin(self, seed, poison, case=None):
        """Make this seed's inputs the current ones and poison the outputs."""
        self.leave(seed, case)
        trial = self.trials.get(seed, case)
        self.check(trial)
        self.current = trial
        if trial.private:
            self.shared.fill(trial, self.judge is not None and self.inputs_size > PRIVATE)
        else:
            self.shared.changed()  # the worker has had them since
        self.poisoned.fill_(poison)
        self.settle()
        return trial

    def leave(self, seed, case=None):
        """Nothing is current until begin() ends; what lies in the share goes, unless
        it is this seed's."""
        trial, self.current = self.current, None
        same = trial is not None and (trial.seed, trial.case) == (seed, case)
        if trial is not None and not same and not trial.private:
            trial.reclaim()
            self.trials.drop(trial)

    def check(self, trial):
        """What a plan was recorded with must hold for every seed."""
        if repr(trial.specs) == self.signature:
            return
        if trial.shapes() != self.shapes:
            raise self.task.fault("get_inputs", "get_inputs() made %s, but %s when the task was"
                                  " loaded; shapes and dtypes must not depend on the seed"
                                  % (trial.shapes(), self.shapes))
        for i, (spec, loaded) in enumerate(zip(trial.specs, self.inputs)):
            for value, first in zip(values_of(spec), values_of(loaded)):
                if repr(value) != repr(first):
                    raise self.task.fault("get_inputs", "input %d is no tensor and changes from"
                                          " seed to seed (%.40r, then %.40r): kernels are launched"
                                          " with the value seen first; make it a tensor or a"
                                          " constant" % (i + 1, first, value))

    def output(self, index):
        return view(self.outputs_share.memory, self.outputs[index])

    def outputs_at(self, index, slots):
        """Bytes of one output, a row for each slot."""
        spec = self.outputs[index]
        return self.outputs_share.memory.as_strided(
            (slots, spec["bytes"]), (self.outputs_size, 1), spec["offset"])

    def compare(self, poison, slots=1):
        """What is in the first slots, against the references for the current inputs."""
        trial = self.under_way()
        if relations.stage_of(trial.case) and not relations.is_last(trial.case):
            return self.keep(trial)
        changed, late = [], trial.private or trial.has_expected()
        if not late:  # the references are made from the share
            changed = self.shared.changed()
        back = Readback()
        watched = self.shared.begin(back) if late else None
        begun = [e.begin(self.outputs_at(i, slots), poison, back)
                 for i, e in enumerate(self.expected(trial))]
        products = self.products.begin(trial, lambda i: self.outputs_at(i, slots), back)
        back.read()
        entries = [e.finish(b, back) for e, b in zip(trial.expected(), begun)]
        for i, handle in products.items():
            freivalds.note(entries[i], back.numbers(handle), self.products.eager[i])
        if late:
            changed = self.shared.finish(watched, back)
        if relations.stage_of(trial.case):   # the same seed would find what is held now
            self.trials.drop(trial)
        self.trials.trim()
        self.relieve()
        return {"outputs": [each[0] for each in entries], "reference": trial.precision,
                "slots": [list(each) for each in zip(*entries)], "changed": changed}

    def keep(self, trial):
        """An earlier stage of a relation: nothing is judged yet."""
        changed = self.shared.changed()
        outs = [self.output(i) for i in range(len(self.outputs))]
        self.trials.relations.keep(trial.seed, trial.case, outs)
        self.relieve()
        return {"outputs": [], "reference": "relation", "slots": [[]], "changed": changed}

    def relation(self, name, seed):
        """What eager PyTorch's errors are in a relation."""
        self.leave(seed)
        found = self.trials.relations
        if name not in found.found:
            return {"holds": False, "why": found.why.get(name, "there is no such relation")}
        return {"holds": True, "eager": found.measure(name, seed), "inputs": found.found[name],
                "stages": relations.STAGES[name]}

    def mark(self):
        """A text that differs where any bit of the outputs does."""
        outputs = [self.outputs_at(i, 1)[0] for i in range(len(self.outputs))]
        if self.judge is None:
            return "-".join(digest(t) for t in outputs)
        back = Readback()
        handles = [back.add(self.judge.hash(t)) for t in outputs]
        back.read()
        return "-".join(str(back.whole(h)[0]) for h in handles)

    def mutants(self, seed, case=None, names=None):
        """Wrong outputs for these inputs, judged; nothing is current afterwards."""
        self.leave(seed, case)
        trial = self.trials.get(seed, case)
        found = admission.judge(self, trial, names)
        self.trials.trim()
        return found

    def expected(self, trial):
        expected = trial.expected()
        for i, (e, spec) in enumerate(zip(expected, self.outputs)):
            if e.shape != spec["shape"]:
                raise self.task.fault("Model.forward", "output %d has the shape %s, but %s when"
                                      " the task was loaded; shapes must not depend on the"
                                      " inputs' values" % (i + 1, e.shape, spec["shape"]))
        return expected

    def under_way(self):
        if self.current is None:
            raise Fault("invalid", "no inputs yet: send the op 'inputs' first")
        return self.current

    def input_tensor(self, index):
        """Input `index` as a tensor or a plain value."""
        found = self.current.inputs[index]
        if isinstance(found, (list, tuple)):
            raise Fault("invalid", "input %d is a list; peek shows tensors and values"
                        % (index + 1))
        return found

    def settle(self):
        """What was written is visible to other processes from here on."""
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)

    def relieve(self):
        """Give back what PyTorch keeps in reserve where the worker may need it."""
        if self.inputs_size + self.outputs_size > PRIVATE and self.device.type == "cuda" and \
                torch.cuda.mem_get_info(self.device)[0] < RESERVE:
            self.release()

    def release(self):
        if self.device.type == "cuda":
            torch.cuda.empty_cache()

    def close(self):
        self.current = self.shared = self.poisoned = None
        for worker in self.jailed.values():
            worker.close()
        self.jailed = {}
        for share in self.shares:
            share.close()
        self.shares, self.baselines, self.stopwatch = [], {}, None
        if self.judge is not None:
            self.judge.close()
        self.release()


def digest(tensor):
    """Of a vector of bytes on the CPU."""
    bytes_of = (ctypes.c_char * tensor.numel()).from_address(tensor.data_ptr())
    return hashlib.blake2b(bytes_of, digest_size=16).hexdigest()


def named(name):
    return {"name": name} if name else {}


def density(tensor):
    """The share of a tensor's elements that are not zero: 1/2 of a triangle."""
    return float(torch.count_nonzero(tensor)) / tensor.numel() if tensor.numel() else 1.0


class Mark:
    """A tensor kept to be compared bit by bit."""

    def __init__(self, tensor):
        self.tensor = tensor

    def __eq__(self, other):
        return same_bits(self.tensor, other.tensor)
