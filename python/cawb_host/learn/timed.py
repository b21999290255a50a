"""What a task takes on a GPU at its real sizes: PyTorch's own times, and nothing that a candidate would be judged by. A set
has thousands of tasks: no reference, no graph and no shares are made for them."""
import gc
import types

import torch

from cawb_host.judge.time import baseline
from cawb_host.judge.task.runner import Runner
from cawb_host.judge.task.source import Task
from cawb_host.base.fault import Fault, kind_of, one_line


class Seen:
    """One draw of inputs, without expectations."""

    def __init__(self, inputs):
        self.inputs = inputs

    def expected(self):
        return ()


class Bare:
    """As much of a workload as a baseline asks for. All calls take the same inputs: the caches are cold ahead of each."""

    def __init__(self, path, device, seed):
        self.device, self.baselines, self.stopwatch = device, {}, None
        self.runner = Runner(Task(path, {}), device, 42)
        self.current = Seen(self.runner.inputs(seed))
        self.inputs_share = types.SimpleNamespace(size=baseline.LARGE)


LONG = 0.5               # seconds of a call, beyond which one more is enough: its spread is nothing beside it


def long_call(work, kind):
    """Seconds of the second call where the first took long, by the host's clock; None where it is to be measured well, or failed."""
    if baseline.is_compiled(kind):
        return None
    try:
        work.stopwatch = work.stopwatch or baseline.Stopwatch(work.device)
        with baseline.as_used(kind):
            forward = baseline.forward_of(work, kind)
            first = work.stopwatch.call_time(forward, work.current.inputs)
            return work.stopwatch.call_time(forward, work.current.inputs) if first >= LONG else None
    except Exception as error:  # pylint: disable=broad-except
        if kind_of(error) == "device":
            raise
        return None


def one(work, kind, samples, budget, seed):
    """The median of its times, or why there is none; it is let go of afterwards."""
    long = long_call(work, kind)
    if long is not None:
        return {"seconds": long, "samples": 1}
    found = baseline.attempt(work, kind, samples, budget, seed)
    work.baselines.clear()
    if baseline.is_compiled(kind):
        torch._dynamo.reset()
    return {"failed": found["failed"]} if "failed" in found else {"seconds": found["median"], "samples": len(found["samples"])}


def run(path, device, kinds, samples, budget, seed):
    """{ kind: { seconds, samples } or { failed } }; what cannot be loaded fails alike for all."""
    gc.collect()
    if device.type == "cuda":
        torch.cuda.empty_cache()
    try:
        work = Bare(path, device, seed)
    except Exception as error:  # pylint: disable=broad-except
        if kind_of(error) == "device":
            raise
        why = error.message if isinstance(error, Fault) else one_line("%s: %s" % (type(error).__name__, error))
        return {kind: {"failed": why} for kind in kinds}
    return {kind: one(work, kind, samples, budget, seed) for kind in kinds}
