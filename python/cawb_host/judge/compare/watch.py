"""Watches the parts of the shares that must not change: inputs and parameters.

With the judge's kernels a hash of each share tells that nothing was written to it;
only where it differs, or where there is none, is every tensor compared.
"""
from cawb_host.judge.compare.gpu import Readback
from cawb_host.base.forms import state_of
from cawb_host.base.tensors import flat, leaves, place_of, same_bits, store, view


class Watch:
    """The bytes of one share that tensors lie in, from when note() was called."""

    def __init__(self, judge, memory, size):
        self.judge, self.memory = judge, memory[:size]
        self.hash = None

    def note(self):
        known = self.judge is not None and len(self.memory) > 0
        self.hash = self.judge.hash(self.memory) if known else None

    def begin(self, back):
        if self.hash is None:
            return None
        return back.add(self.hash), back.add(self.judge.hash(self.memory))

    def differs(self, handles, back):
        """Whether something may have changed."""
        return handles is None or back.whole(handles[0]) != back.whole(handles[1])


class Shared:
    """Inputs and parameters in their shares."""

    def __init__(self, work):
        self.work = work
        judge = work.trials.judge
        self.inputs = Watch(judge, work.inputs_share.memory, work.inputs_size)
        self.params = Watch(judge, work.params_share.memory, work.params_size)
        self.places = [place_of(work.inputs_share.memory, spec)
                       for spec in leaf_specs(work.inputs)]
        self.params.note()

    def begin(self, back):
        return self.inputs.begin(back), self.params.begin(back)

    def finish(self, handles, back):
        """Names of inputs and parameters that were written to; they are put right again."""
        names = []
        if self.inputs.differs(handles[0], back):
            names += self.changed_inputs()
        if self.work.params and self.params.differs(handles[1], back):
            names += self.changed_params()
        return names

    def changed(self):
        back = Readback()
        handles = self.begin(back)
        back.read()
        return self.finish(handles, back)

    def changed_inputs(self):
        trial = self.work.current
        lent = not trial.private
        trial.reclaim()
        names = []
        for i, (item, spec) in enumerate(zip(trial.inputs, trial.specs)):
            if not all(same_bits(view(self.inputs.memory, s), t) for t, s in leaves(item, spec)):
                names.append("inputs[%d]" % (i + 1))
        if names or lent or self.inputs.hash is not None:
            self.fill(trial, lent)
        return names

    def changed_params(self):
        names, state = [], state_of(self.work.runner.module)
        for spec in self.work.params:
            tensor = state[spec["name"]]
            if not same_bits(view(self.params.memory, spec), tensor):
                names.append("params." + spec["name"])
                store(self.params.memory, spec, tensor)
        self.params.note()
        return names

    def fill(self, trial, lend):
        """Put a trial's inputs into the share; it may then have no others."""
        for (tensor, _), place in zip(trial.leaves(), self.places):
            place.copy_(flat(tensor))
        if lend:
            trial.lend(self.inputs.memory)
        self.inputs.note()


def leaf_specs(specs):
    for spec in specs:
        if "items" in spec:
            yield from leaf_specs(spec["items"])
        elif "dtype" in spec:
            yield spec
