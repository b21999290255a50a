"""A loaded task with its shares: what `load` makes and `unload` ends."""
import torch

from fault import Fault
from graph import Recorder
from runner import Runner, loose_tensors
from share import open_share
from task import Task
from tensors import Layout, leaves, same_bits, store, values_of, view
from trials import Trial, Trials

OTHER_SEEDS = 4  # tried at load, until inputs and outputs have both changed



class Workload:
    def __init__(self, path, device, overrides, init_seed):
        self.device = device
        self.task = Task(path, overrides)
        self.runner = Runner(self.task, device, init_seed)
        self.trials = Trials(self.runner)
        self.current = None
        self.shares = []
        self.baselines, self.stopwatch = {}, None    # see baseline.py
        try:
            self.study(init_seed)
            self.place_parameters()
            self.place_inputs_outputs()
        except BaseException:
            self.close()
            raise

    def study(self, seed):
        """Run it a few times: outputs, op graph, is it deterministic, random?"""
        first = self.trials.get(seed)
        self.inputs, self.shapes, self.inputs_size = first.specs, first.shapes(), first.share_size
        recorder = []

        def mode(module, args):
            recorder.append(Recorder(module, args))
            return recorder[0]

        found = self.runner.probe(first.inputs, seed, mode)
        self.graph, self.notes = recorder[0].entries, recorder[0].notes
        self.place_outputs(found)
        self.deterministic = self.repeats(first, found, seed)
        self.random = self.deterministic and not self.same(first, found, seed + 1)
        self.runner.repeatable = self.deterministic and not self.random
        self.constant = not self.moves(first, found, seed)
        self.trials.clear()
        self.remark()

    def repeats(self, trial, found, seed):
        again = self.runner.forward(trial.inputs, seed)
        for i, ((_, a), (_, b)) in enumerate(zip(found, again)):
            if not same_bits(a, b):
                self.notes.append("output %d changes from run to run, though the input and the"
                                  " torch seed are the same" % (i + 1))
                return False
        return True

    def same(self, trial, found, seed):
        again = self.runner.forward(trial.inputs, seed)
        return all(same_bits(a, b) for (_, a), (_, b) in zip(found, again))

    def moves(self, first, found, seed):
        """Whether inputs and outputs change with the seed. A small output may be
        the same for two seeds by chance, so there are a few."""
        inputs = outputs = False
        for other in range(seed + 1, seed + 1 + OTHER_SEEDS):
            trial = Trial(self.runner, other)
            self.check(trial)
            inputs = inputs or not all(same_bits(a, b) for (a, _), (b, _)
                                       in zip(first.leaves(), trial.leaves()))
            outputs = outputs or (inputs and not self.same(trial, found, seed))
            if inputs and outputs:
                return True
        self.notes.append(("the output is the same for different inputs: any constant passes;"
                           if inputs else "get_inputs() makes the same inputs for every seed: an"
                           " output that was seen once passes;") + " verification means little")
        return False

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
            self.outputs.append(dict(spec, name=name) if name else spec)
        self.outputs_size = layout.size

    def place_parameters(self):
        layout, module = Layout(), self.runner.module
        own = {name for name, _ in module.named_parameters(remove_duplicate=False)}
        state = [(n, t) for n, t in module.state_dict().items() if isinstance(t, torch.Tensor)]
        with self.task.located("Model.__init__"):
            self.params = [dict(layout.add(t, "parameter '%s'" % n), name=n,
                                kind="parameter" if n in own else "buffer") for n, t in state]
        self.params_share = self.share(layout.size, "params")
        for spec, (_, tensor) in zip(self.params, state):
            store(self.params_share.memory, spec, tensor.detach())
        self.param_count = sum(p.numel() for p in module.parameters())

    def place_inputs_outputs(self):
        self.inputs_share = self.share(self.inputs_size, "inputs")
        self.outputs_share = self.share(self.outputs_size, "outputs")
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
            "graph": self.graph, "deterministic": self.deterministic, "random": self.random,
            "constant": self.constant, "param_count": self.param_count, "notes": self.notes,
            "params_share": self.params_share.describe(),
            "inputs_share": self.inputs_share.describe(),
            "outputs_share": self.outputs_share.describe()}
        return reply, [s.fd for s in self.shares if s.fd >= 0]

    def begin(self, seed, poison):
        """Make this seed's inputs the current ones and poison the outputs."""
        trial = self.trials.get(seed)
        self.check(trial)
        for tensor, spec in trial.leaves():
            store(self.inputs_share.memory, spec, tensor)
        self.outputs_share.memory.view(torch.int32).fill_(poison)
        self.current = trial
        self.settle()
        return trial

    def check(self, trial):
        """What a plan was recorded with must hold for every seed."""
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

    def compare(self, poison):
        trial = self.under_way()
        for i, (expected, spec) in enumerate(zip(trial.expected(), self.outputs)):
            if expected.shape != spec["shape"]:
                raise self.task.fault("Model.forward", "output %d has the shape %s, but %s when"
                                      " the task was loaded; shapes must not depend on the"
                                      " inputs' values" % (i + 1, expected.shape, spec["shape"]))
        entries = [expected.compare(self.output(i), poison)
                   for i, expected in enumerate(trial.expected())]
        self.trials.trim()
        return {"outputs": entries, "reference": trial.precision, "changed": self.changed()}

    def changed(self):
        """Inputs and parameters in the shares that are not what was put there. The
        worker copies its own back, so this tells what a kernel wrote to."""
        names = []
        for i, (item, spec) in enumerate(zip(self.current.inputs, self.current.specs)):
            if not all(same_bits(view(self.inputs_share.memory, s), t)
                       for t, s in leaves(item, spec)):
                names.append("inputs[%d]" % (i + 1))
        state = self.runner.module.state_dict()
        for spec in self.params:
            tensor = state[spec["name"]].detach()
            if not same_bits(view(self.params_share.memory, spec), tensor):
                names.append("params." + spec["name"])
                store(self.params_share.memory, spec, tensor)
        return names

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

    def close(self):
        for share in self.shares:
            share.close()
        self.shares, self.baselines, self.stopwatch = [], {}, None
        if self.device.type == "cuda":
            torch.cuda.empty_cache()
