"""PyTorch's own times on a GPU: eager, and torch.compile in its default mode.

A sample is one forward between two CUDA events with a cold L2 cache: write
twice the L2, spin on the device until the host has launched everything, run.
Strict float32, as everywhere; cuDNN is free to choose its algorithms.
"""
import contextlib
import statistics
import time

import torch

from fault import Fault, kind_of, one_line
from runner import made_on, strict

KINDS = ("eager", "compile")
WARMUP = 3               # calls before the first sample
UNKNOWN_L2 = 128 << 20   # bytes to assume where PyTorch does not tell
LONGEST_SPIN = 0.05      # seconds


def measure(work, kinds, samples, budget, seed):
    """{kind: result}; `samples` each, or fewer after `budget` seconds each. A kind
    stays set up and warm between calls, so that a judge can take turns between it
    and a candidate. That PyTorch cannot run or compile the task is a result too."""
    found = {}
    for kind in kinds:
        try:
            if kind not in work.baselines:
                work.baselines[kind] = Baseline(work, kind, seed)
            found[kind] = work.baselines[kind].take(samples, budget)
        except Exception as error:  # pylint: disable=broad-except
            if not isinstance(error, Fault) and kind_of(error) == "device":
                raise
            work.baselines.pop(kind, None)
            found[kind] = {"failed": one_line("%s: %s" % (type(error).__name__, error))}
    return found


def in_turn(work, order, samples, budget, seed):
    """A batch of each kind in `order`, where a kind may come more than once: {batches,
    kinds}, what is known of each kind apart from the samples."""
    batches, kinds = [], {}
    for kind in order:
        about = measure(work, [kind], samples, budget, seed)[kind]
        times = about.pop("samples", None)
        kinds[kind] = about
        if times is not None:
            batches.append({"kind": kind, "samples": times})
    return {"batches": batches, "kinds": kinds}


class Baseline:
    """One kind, compiled if that is what it is, warm, with its own inputs."""

    def __init__(self, work, kind, seed):
        self.sets = input_sets(work, seed)
        self.watch = work.stopwatch = work.stopwatch or Stopwatch(work.device)
        self.taken, host = 0, []
        started = time.perf_counter()
        self.forward = eager(work) if kind == "eager" else compiled(work)
        with self.running():
            outputs = work.runner.named(self.forward(*self.sets[0].inputs))
            self.watch.wait()
            self.about = {"setup_s": time.perf_counter() - started}
        self.about.update(errors(self.sets[0], outputs))
        del outputs
        with self.running():
            for i in range(WARMUP):
                host.append(self.watch.launch_time(self.forward, self.inputs(i)))
        self.about.update(host_s=min(host), input_sets=len(self.sets))
        self.spin = min(LONGEST_SPIN, 2 * min(host))

    @contextlib.contextmanager
    def running(self):
        """As a user runs it: cuDNN chooses freely (the references do not let it)."""
        strict()
        torch.backends.cudnn.deterministic = False
        with torch.no_grad():
            yield

    def inputs(self, number):
        return self.sets[number % len(self.sets)].inputs

    def sample(self):
        """One sample that the host was in time for, where a longer spin allows it."""
        while True:
            seconds, late = self.watch.sample(self.forward, self.inputs(self.taken), self.spin)
            if not late or self.spin >= LONGEST_SPIN:
                return seconds
            self.spin = min(LONGEST_SPIN, 2 * self.spin)

    def take(self, samples, budget):
        times, started = [], time.perf_counter()
        with self.running():
            while len(times) < samples and (not times or time.perf_counter() - started < budget):
                times.append(self.sample())
                self.taken += 1
        return dict(self.about, samples=times, median=statistics.median(times))


def input_sets(work, seed):
    """Trials with different inputs to rotate among: two where memory allows."""
    first = work.trials.get(seed)
    needed = 2 * (work.inputs_share.size + work.outputs_share.size)
    if torch.cuda.mem_get_info(work.device)[0] < needed:
        return [first]
    return [first, work.trials.get((seed + 1) & ((1 << 63) - 1))]


def eager(work):
    module = work.runner.copy()

    def forward(*args):
        with made_on(work.device):
            return module(*args)
    return forward


def compiled(work):
    torch._dynamo.reset()
    return torch.compile(work.runner.copy())


def errors(trial, outputs):
    """The largest errors over all outputs, and each output's own."""
    each = [e.measure(out) for e, (_, out) in zip(trial.expected(), outputs)]

    def largest(name):
        values = [e[name] for e in each if name in e]
        return None if None in values else max(values, default=0.0)
    return {"error": {"worst": largest("worst"), "nrms": largest("nrms")}, "outputs": each}


class Stopwatch:
    """Times calls on one device. All results are in seconds."""

    def __init__(self, device):
        self.device = device
        about = torch.cuda.get_device_properties(device)
        l2 = getattr(about, "L2_cache_size", 0) or UNKNOWN_L2
        with torch.cuda.device(device):
            self.flush = torch.empty(2 * l2, dtype=torch.uint8, device=device)
            self.start = torch.cuda.Event(enable_timing=True)
            self.end = torch.cuda.Event(enable_timing=True)
            self.rate = self.spin_rate()

    def wait(self):
        torch.cuda.synchronize(self.device)

    def spin_rate(self, cycles=10_000_000):
        """Cycles of a device spin in a second."""
        torch.cuda._sleep(cycles)
        self.start.record()
        torch.cuda._sleep(cycles)
        self.end.record()
        self.wait()
        return cycles / (self.start.elapsed_time(self.end) * 1e-3)

    def launch_time(self, forward, args):
        """Seconds that the host needs to launch one forward."""
        self.wait()
        started = time.perf_counter()
        forward(*args)
        host = time.perf_counter() - started
        self.wait()
        return host

    def sample(self, forward, args, spin):
        """(seconds, late): late when the GPU had done with the spin before the host
        had launched everything, so that the time holds some of the host's."""
        with torch.cuda.device(self.device):
            self.wait()
            self.flush.zero_()
            torch.cuda._sleep(max(1, int(spin * self.rate)))
            self.start.record()
            forward(*args)
            self.end.record()
            late = self.start.query()
            self.wait()
            return self.start.elapsed_time(self.end) * 1e-3, late
