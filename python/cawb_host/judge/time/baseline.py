"""The baselines of a candidate: times of PyTorch on a GPU, and of a file. Their kinds:

* "eager";
* "compile": torch.compile in its default mode;
* "max_autotune": its mode max-autotune-no-cudagraphs, with cuDNN's own search on. A CUDA graph of its own would copy the
  inputs at every call, and launches are not charged here;
* "file:PATH": a user's Python file (rival.py).

All run in strict float32; with the suffix "_tf32" TF32 is allowed in matrix products and cuDNN. cuDNN may choose its
algorithms freely, unlike in references.
"""
import contextlib
import importlib
import statistics
import time

import torch

from cawb_host.base.fault import Fault, kind_of, one_line
from cawb_host.judge.time.rival import make
from cawb_host.judge.task.runner import made_on, strict, whole_attention
from cawb_host.judge.time.stopwatch import Stopwatch

COMPILE = {"compile": None, "max_autotune": "max-autotune-no-cudagraphs"}
TF32 = "_tf32"
KINDS = tuple(kind + end for end in ("", TF32) for kind in ("eager", *COMPILE))
FILE = "file:"

WARMUP = 3               # calls before the first sample
LONGEST_SPIN = 0.05      # seconds
LARGE = 1 << 30          # bytes of inputs, from which on there is room for only one set


def known(kind):
    return isinstance(kind, str) and (kind in KINDS or kind.startswith(FILE))


def measure(work, kinds, samples, budget, seed, other=None):
    """{kind: result}; `samples` each, or fewer after `budget` seconds each. A kind
    stays set up and warm between calls, so that a judge can take turns between it
    and a candidate. That PyTorch cannot run or compile the task is a result too."""
    return {kind: attempt(work, kind, samples, budget, seed, other) for kind in kinds}


def in_turn(work, order, samples, budget, seed, other=None):
    """A batch of each kind in `order`, where a kind may come more than once: {batches,
    kinds}, what is known of each kind apart from the samples."""
    batches, kinds = [], {}
    for kind in order:
        about = attempt(work, kind, samples, budget, seed, other)
        times = about.pop("samples", None)
        about.pop("outputs", None)
        kinds[kind] = about
        if times is not None:
            batches.append({"kind": kind, "samples": times})
    return {"batches": batches, "kinds": kinds}


def set_up(work, kinds, seed, other=None):
    """{kind: {} or why it failed}: what takes seconds once, torch.compile's work and a first call, is done. Nothing is timed."""
    return {kind: tried(work, kind, seed, other, lambda _one: {}) for kind in kinds}


def attempt(work, kind, samples, budget, seed, other=None):
    return tried(work, kind, seed, other, lambda one: one.take(samples, budget))


def tried(work, kind, seed, other, use):
    """What `use` makes of the baseline of a kind, which is set up if it is not; or why that failed."""
    try:
        if kind not in work.baselines:
            work.baselines[kind] = Baseline(work, kind, seed, other)
        return use(work.baselines[kind])
    except Exception as error:  # pylint: disable=broad-except
        if not isinstance(error, Fault) and kind_of(error) == "device":
            raise
        work.baselines.pop(kind, None)
        text = error.message if isinstance(error, Fault) else "%s: %s" % (type(error).__name__, error)
        return {"failed": one_line(text)}


class Baseline:
    """A baseline of one kind, compiled if its kind is, and warm before its first batch. It has inputs of its own,
    unless they are large: then it takes those of the trial under way."""

    def __init__(self, work, kind, seed, other=None):
        self.work, self.kind = work, kind
        self.sets = input_sets(work, seed, other)
        self.watch = work.stopwatch = work.stopwatch or Stopwatch(work.device)
        self.taken, self.spin = 0, None
        started = time.perf_counter()
        self.forward = forward_of(work, kind)
        with self.running():
            outputs = work.runner.named(self.forward(*self.inputs(0)))
            self.watch.wait()
            self.about = {"setup_s": time.perf_counter() - started}
        self.about.update(errors(self.trial(seed), outputs))

    def warm_up(self):
        """What the host's launching takes: a batch waits for it."""
        with self.running():
            host = [self.watch.launch_time(self.forward, self.inputs(i)) for i in range(WARMUP)]
            calls = [self.watch.call_time(self.forward, self.inputs(i)) for i in range(WARMUP)]
        self.about.update(host_s=min(host), call_s=min(calls), input_sets=len(self.sets) or 1)
        self.spin = self.least_spin = min(LONGEST_SPIN, 2 * min(host))

    def running(self):
        return as_used(self.kind)

    def trial(self, seed):
        return self.sets[0] if self.sets else self.work.current or self.work.trials.get(seed)

    def inputs(self, number):
        if not self.sets:
            return self.work.current.inputs
        return self.sets[number % len(self.sets)].inputs

    def batch(self, count):
        """So many samples that the host was in time for, where a longer spin allows it."""
        times = []
        self.spin = max(self.least_spin, self.spin / 2)   # a host that was late once need not be
        while len(times) < count:
            inputs = [self.inputs(self.taken + i) for i in range(count - len(times))]
            taken = self.watch.batch(self.forward, inputs, self.spin)
            good = [s for s, late in taken if not late or self.spin >= LONGEST_SPIN]
            times += good
            self.taken += len(good)
            if len(good) < len(taken):
                self.spin = min(LONGEST_SPIN, 2 * self.spin)
        return times

    def take(self, samples, budget):
        """`samples` in one batch, or one after the other until `budget` seconds are over
        where that many would take longer."""
        if self.spin is None:
            self.warm_up()
        times, started = [], time.perf_counter()
        with self.running():
            while len(times) < samples and (not times or time.perf_counter() - started < budget):
                fits = samples if self.about["call_s"] * samples < budget else 1
                times += self.batch(min(fits, samples - len(times)))
        return dict(self.about, samples=times, median=statistics.median(times))


def input_sets(work, seed, other=None):
    """Trials with different inputs to rotate among; none where they are large. `other` is the seed
    and the kind of the second, as a candidate has it."""
    if work.inputs_share.size >= LARGE:
        return []
    first = work.trials.get(seed)
    needed = 2 * (work.inputs_share.size + work.outputs_share.size)
    if torch.cuda.mem_get_info(work.device)[0] < needed:
        return [first]
    second = work.fitted(*other) if other else None
    return [first, second or work.trials.get((seed + 1) & ((1 << 63) - 1))]


@contextlib.contextmanager
def as_used(kind):
    """As a user runs it: cuDNN chooses freely; TF32 where the kind says so."""
    strict()
    whole_attention(True)
    torch.backends.cudnn.deterministic = False
    torch.backends.cudnn.benchmark = kind.startswith("max_autotune")
    tf32 = kind.endswith(TF32)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = tf32
    try:
        with torch.no_grad():
            yield
    finally:
        strict()


def forward_of(work, kind):
    if kind.startswith(FILE):
        return eager(work, make(work, kind[len(FILE):]))
    name = kind[:-len(TF32)] if kind.endswith(TF32) else kind
    if name == "eager":
        return eager(work, work.runner.copy())
    return compiled(work, COMPILE[name])


def eager(work, module):
    def forward(*args):
        with made_on(work.device):
            return module(*args)
    return forward


def compiled(work, mode):
    """torch.compile keeps its results by code and settings. A second kind of the same task must
    not throw away the first one's, so the reset is done only once."""
    if not any(is_compiled(kind) for kind in work.baselines):
        torch._dynamo.reset()
    return torch.compile(work.runner.copy(), mode=mode) if mode \
        else torch.compile(work.runner.copy())


def warm(device, threads=None):
    """The first compilation of a process, which imports and starts the parts that all others
    use; `threads`: processes that Inductor compiles with. If it fails, the baseline will fail too, and say why."""
    with contextlib.suppress(Exception):
        if threads:
            importlib.import_module("torch._inductor.config").compile_threads = threads
        torch.compile(lambda x: x + 1)(torch.ones(1, device=device))
        torch.cuda.synchronize(device)


def is_compiled(kind):
    return kind.removesuffix(TF32) in COMPILE


def errors(trial, outputs):
    """The largest errors over all outputs, and each output's own."""
    each = [e.measure(out) for e, (_, out) in zip(trial.expected(), outputs)]

    def largest(name):
        values = [e[name] for e in each if name in e]
        return None if None in values else max(values, default=0.0)
    return {"error": {"worst": largest("worst"), "nrms": largest("nrms")}, "outputs": each}
