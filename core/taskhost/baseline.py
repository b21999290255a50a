"""PyTorch's own times on a GPU: eager, and torch.compile in its default mode.

A sample is one forward between two CUDA events with a cold L2 cache: write
twice the L2, spin on the device until the host has launched everything, run.
Strict float32, as everywhere; cuDNN is free to choose its algorithms.
"""
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
    """{kind: result}; `samples` each, or fewer after `budget` seconds each.
    That PyTorch cannot run or compile the task is a result too."""
    sets = input_sets(work, seed)
    watch = Stopwatch(work.device)
    found = {}
    for kind in kinds:
        try:
            found[kind] = one_kind(work, kind, sets, watch, samples, budget)
        except Exception as error:  # pylint: disable=broad-except
            if not isinstance(error, Fault) and kind_of(error) == "device":
                raise
            found[kind] = {"failed": one_line("%s: %s" % (type(error).__name__, error))}
        torch.cuda.empty_cache()
    return found


def input_sets(work, seed):
    """Trials with different inputs to rotate among: two where memory allows."""
    first = work.trials.get(seed)
    needed = 2 * (work.inputs_share.size + work.outputs_share.size)
    if torch.cuda.mem_get_info(work.device)[0] < needed:
        return [first]
    return [first, work.trials.get((seed + 1) & ((1 << 63) - 1))]


def one_kind(work, kind, sets, watch, samples, budget):
    started = time.perf_counter()
    forward = eager(work) if kind == "eager" else compiled(work)
    torch.backends.cudnn.deterministic = False
    with torch.no_grad():
        outputs = work.runner.named(forward(*sets[0].inputs))
        watch.wait()
        setup = time.perf_counter() - started
        result = {"setup_s": setup, **errors(sets[0], outputs)}
        del outputs
        torch.backends.cudnn.deterministic = False  # the references set it back
        result.update(take(forward, sets, watch, samples, budget))
    return result


def eager(work):
    strict()
    module = work.runner.copy()

    def forward(*args):
        with made_on(work.device):
            return module(*args)
    return forward


def compiled(work):
    strict()
    torch._dynamo.reset()
    return torch.compile(work.runner.copy())


def errors(trial, outputs):
    """The largest errors over all outputs, and each output's own."""
    each = [e.measure(out) for e, (_, out) in zip(trial.expected(), outputs)]

    def largest(name):
        values = [e[name] for e in each if name in e]
        return None if None in values else max(values, default=0.0)
    return {"error": {"worst": largest("worst"), "nrms": largest("nrms")}, "outputs": each}


def take(forward, sets, watch, samples, budget):
    host = []
    for i in range(WARMUP):
        host.append(watch.launch_time(forward, sets[i % len(sets)].inputs))
    spin = min(LONGEST_SPIN, 2 * min(host))
    times, started = [], time.perf_counter()
    while len(times) < samples and (not times or time.perf_counter() - started < budget):
        times.append(watch.sample(forward, sets[len(times) % len(sets)].inputs, spin))
    return {"samples": times, "median": statistics.median(times), "host_s": min(host),
            "input_sets": len(sets)}


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
        with torch.cuda.device(self.device):
            self.wait()
            self.flush.zero_()
            torch.cuda._sleep(max(1, int(spin * self.rate)))
            self.start.record()
            forward(*args)
            self.end.record()
            self.wait()
            return self.start.elapsed_time(self.end) * 1e-3
