"""A loaded task with its shares: `load` makes it and `unload` ends it."""
import ctypes
import hashlib

import torch

from cawb_host.judge import admission
from cawb_host.judge.inputs import battery
from cawb_host.judge.compare import decided
from cawb_host.judge.compare import freivalds
from cawb_host.judge.compare import native
from cawb_host.judge.compare import relations
from cawb_host.judge.compare import roundings
from cawb_host.judge.compare import slope
from cawb_host.base.fault import Fault, Refused
from cawb_host.judge.compare.gpu import Judge, Readback
from cawb_host.judge.task.runner import Runner, seed_all
from cawb_host.base.forms import state_of
from cawb_host.base.shared_memory import open_share
from cawb_host.judge.task.source import Task
from cawb_host.base.tensors import Layout, judged, store, values_of, view
from cawb_host.judge.study import Study
from cawb_host.judge.trials import PRIVATE, Trials, kind
from cawb_host.judge.compare.terms import doubtful, largest, plain_matters
from cawb_host.judge.compare.watch import Shared

MOST_SLOTS = 8                                      # copies of all outputs in their share,
SLOT_BYTES = {"cuda": 256 << 20, "cpu": 64 << 20}   # as long as they fit in this

SLIGHT = 1e-3            # an output whose elements are all below this may be small beside its inputs

RESERVE = 4 << 30        # bytes of GPU memory that others should find free


def judge_of(path, device):
    """The kernels at this path that judge on a GPU, or None."""
    return Judge(path, device) if path and device.type == "cuda" else None


class Workload(Study):
    def __init__(self, path, device, overrides, init_seed, judge=None, weights_seed=None, library=None):
        self.device = device
        seed_all(init_seed)                          # a file may draw numbers while it is read
        self.task = Task(path, overrides)
        self.runner = Runner(self.task, device, init_seed)
        self.current = self.judge = None
        self.shares = []
        self.baselines, self.stopwatch = {}, None    # see host/baselines/baseline.py
        self.jailed = {}                             # see host/judge/python_candidate.py
        try:
            self.judge = judge_of(judge, device)
            native.open_library(library)
            self.trials = Trials(self.runner, self.judge)
            self.held = []                           # what of its inputs never varies
            self.unseen = []                         # weights that hardly show in the output
            self.varied = [] if weights_seed is None else self.vary(init_seed, weights_seed)
            self.study(init_seed)
            self.roundings = roundings.steps(self.graph)
            self.release()
            self.place_parameters()
            self.place_inputs_outputs()
        except BaseException:
            self.close()
            raise

    def place_outputs(self, found):
        layout = Layout()
        self.outputs = []
        for i, (name, tensor) in enumerate(found):
            with self.task.located("Model.forward"):
                spec = layout.add(*judged(tensor, "output %d" % (i + 1)))
            place = self.trials.places[i]
            self.outputs.append(dict(spec, **named(name), **({"index": place.name} if place else {})))
        self.outputs_size = layout.size
        self.trials.shapes = [spec["shape"] for spec in self.outputs]

    def place_parameters(self):
        layout, module = Layout(), self.runner.module
        own = {name for name, _ in module.named_parameters(remove_duplicate=False)}
        state = list(state_of(module).items())
        with self.task.located("Model.__init__"):
            self.params = [dict(layout.add(t, "parameter '%s'" % n), name=n,
                                kind="parameter" if n in own else "buffer") for n, t in state]
        self.params_size = layout.size
        self.params_share = self.share(layout.size, "params")
        for spec, (_, tensor) in zip(self.params, state):
            store(self.params_share.memory, spec, tensor)
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
                     "source_sha256": task.sha256, "source": task.source, "constants": task.constants, "forbidden": task.forbidden, "judged_at": task.judged_at,
                     "forward_line": task.line("Model.forward")},
            "alters": [what for what, does in (("module", self.runner.changes_module),
                                               ("inputs", self.runner.changes_inputs)) if does],
            "params": self.params, "inputs": self.inputs, "outputs": self.outputs,
            "graph": self.graph, "sources": self.runner.sources, "memory": self.runner.memory, "deterministic": self.deterministic, "random": self.random,
            "constant": self.constant, "varied": self.varied, "unseen": self.unseen, "param_count": self.param_count, "notes": self.notes,
            "params_share": self.params_share.describe(),
            "inputs_share": self.inputs_share.describe(),
            "outputs_share": self.outputs_share.describe(),
            "places": self.trials.choices.stages(), "relations": self.trials.relations.describe(), "density": self.density, **freivalds.describe(self.graph, self.products),
            "slots": self.slots, "outputs_stride": self.outputs_size}
        return reply, [s.fd for s in self.shares if s.fd >= 0]

    def begin(self, seed, poison, case=None):
        """Make this seed's inputs the current ones and poison the outputs. Of a kind that the task
        never announced its own reference goes first, and further draws reach less far where it
        refuses; Refused, where it does so for all."""
        why = None
        for level in self.trials.levels(case):
            self.leave(seed, case, level)
            trial = self.place(seed, case, level)
            last = level == battery.LEVELS[-1]
            if case is None or relations.stage_of(case) or not self.refuses(trial) or last and trial.has_expected():
                self.trials.reaches(case, level)
                break
        else:
            why = self.refusal
            self.trials.reaches(case, battery.LEVELS[-1])
            self.current = None
            self.trials.drop(trial)
            raise Refused(why)
        self.poisoned.fill_(poison)
        self.settle()
        return trial

    def fitted(self, seed, case):
        """A trial of a kind that the reference can deal with, which is not made the current one; or
        None."""
        for level in self.trials.levels(case):
            trial = self.trials.get(seed, case, level)
            if not self.refuses(trial):
                self.trials.reaches(case, level)
                return trial
        return None

    def place(self, seed, case, level):
        """Put a trial's inputs where the worker finds them."""
        trial = self.trials.get(seed, case, level)
        self.check(trial)
        self.current = trial
        if trial.private:
            self.shared.fill(trial, self.judge is not None and self.inputs_size > PRIVATE)
        else:
            self.shared.changed()  # the worker has had them since
        return trial

    def refuses(self, trial):
        """Whether the reference cannot deal with these inputs; its reason is kept."""
        try:
            self.refusal = trial.unfit()
        except Fault as fault:
            if fault.name in ("device", "memory"):
                raise
            self.refusal = fault.message
        if self.refusal:
            self.trials.lowered[kind(trial.case)] = self.refusal
        return bool(self.refusal)

    def leave(self, seed, case=None, level=battery.LEVELS[0]):
        """Nothing is current until begin() ends. The contents of the share are dropped, unless they are this
        seed's."""
        trial, self.current = self.current, None
        same = trial is not None and (trial.seed, trial.case, trial.level) == (seed, case, level)
        if trial is not None and not same and not trial.private:
            trial.reclaim()
            self.trials.drop(trial)

    def check(self, trial):
        """Checks that shapes and types are those of the loaded task, for every seed."""
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
        """Compares the first slots with the references for the current inputs."""
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
        self.note_roundings(trial, entries)
        slope.note(trial, entries, self.slot)
        self.look_again(trial, entries)
        for i, why in trial.unfit_outputs().items() if trial.case and not relations.stage_of(trial.case) else ():
            for entry in entries[i]:
                entry["unfit"] = why
        if relations.stage_of(trial.case):   # the same seed would find what is held now
            self.trials.drop(trial)
        self.trials.trim()
        self.relieve()
        return {"outputs": [each[0] for each in entries], "reference": trial.precision,
                "slots": [list(each) for each in zip(*entries)], "changed": changed, **self.fitness(trial)}

    def fitness(self, trial):
        """Remarks about the inputs themselves: why nothing can be learnt from them, why they are not the first."""
        told = {} if relations.stage_of(trial.case) else {"unfit": trial.unfit(), "lowered": self.trials.told(trial)}
        return {key: value for key, value in told.items() if value}

    def note_roundings(self, trial, entries):
        """Where a reference has the output's own type, its sums are as inexact as a candidate's."""
        for entry in (entry for each in entries for entry in each):
            if entry.get("scale") is not None and entry["dtype"] == trial.precision:
                entry["roundings"] = self.roundings

    def look_again(self, trial, entries):
        """Where an output is in doubt, and of two kinds of inputs that are not large: its errors
        beside the terms that it is made of."""
        always = trial.case in ("mixed", "heavy") and self.inputs_size + self.outputs_size <= PRIVATE
        for i, e in enumerate(trial.expected()):
            for slot, entry in enumerate(entries[i]):
                if entry.get("mismatches") and not e.index:
                    decided.note(trial, i, self.slot(i, slot), entry)
                if not e.dtype.is_floating_point or entry.get("scale") is None:
                    continue
                if trial.case and entry["scale"] < SLIGHT:
                    entry["largest"] = trial.largest()
                terms = trial.terms() if always and slot == 0 or doubtful(entry, e.dtype) else None
                found = terms and terms.beside(i, self.slot(i, slot))
                if found and plain_matters(entry, found, e.dtype):
                    found = self.beside_plain(trial, i, slot, entry) or found
                if found:
                    entry["terms"] = found

    def beside_plain(self, trial, i, slot, entry):
        """The same look, beside the errors of straightforward kernels; None if one of these is no number."""
        errors, looks = trial.plain().get(i, ((), ()))
        if not errors or None in looks or any(e["worst"] is None for e in errors):
            return None
        entry["plain"] = largest(errors)
        return trial.terms().beside(i, self.slot(i, slot), looks)

    def slot(self, index, slot):
        """One copy of an output."""
        spec = self.outputs[index]
        return view(self.outputs_at(index, slot + 1)[slot], dict(spec, offset=0))

    def keep(self, trial):
        """An earlier stage of a relation: nothing is judged yet."""
        changed = self.shared.changed()
        outs = [self.output(i) for i in range(len(self.outputs))]
        self.trials.relations.keep(trial.seed, trial.case, outs)
        self.relieve()
        return {"outputs": [], "reference": "relation", "slots": [[]], "changed": changed}

    def relation(self, name, seed):
        """The errors of eager PyTorch in a relation."""
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
        """From here on writes are visible to other processes."""
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)

    def relieve(self):
        """Gives back PyTorch's reserve of memory if the worker may need it."""
        if self.inputs_size + self.outputs_size > PRIVATE and self.device.type == "cuda" and \
                torch.cuda.mem_get_info(self.device)[0] < RESERVE:
            self.release()

    def make_room(self):
        """Keep nothing that can be made again; how the GPU's memory is used then, and of a processor nothing."""
        self.leave(None)
        self.trials.keep_only(None)
        if self.device.type != "cuda":
            return {}
        free, total = torch.cuda.mem_get_info(self.device)
        own = torch.cuda.memory_reserved(self.device) + sum(share.size for share in self.shares)
        return {"total": total, "free": free, "own": own}

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
