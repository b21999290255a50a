"""The kernels of a baseline's call, as CUPTI sees them through torch.profiler: what each is called, when it begins and how long it
takes. Nothing is measured for a verdict here: a traced call takes longer on the host.

A call is queued behind a spin on the device, so that gaps between its kernels are the device's and not the host's.
"""
import collections
import json
import os
import statistics
import tempfile

import torch

SPIN = "spin_kernel"               # what torch.cuda._sleep starts
SLOWER = 10                        # how many times longer a traced call may take on the host
KINDS = {"kernel", "gpu_memcpy", "gpu_memset"}


def traced(baseline, calls):
    """[{name, begins, seconds, blocks, threads}] of one call: medians over `calls`, of those that started as many kernels as most did."""
    with tempfile.TemporaryDirectory() as folder, baseline.running():
        path = os.path.join(folder, "trace.json")
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profiler:
            for number in range(calls):
                behind_a_spin(baseline, number)
        profiler.export_chrome_trace(path)
        with open(path, encoding="utf-8") as file:
            return medians(in_calls(json.load(file)["traceEvents"]))


def behind_a_spin(baseline, number):
    watch = baseline.watch
    watch.wait()
    torch.cuda._sleep(max(1, int(SLOWER * baseline.spin * watch.rate)))
    baseline.forward(*baseline.inputs(number))
    watch.wait()


def in_calls(events):
    """Kernels of each call, in order."""
    calls = []
    for event in sorted((e for e in events if e.get("cat") in KINDS), key=lambda e: e["ts"]):
        if SPIN in event["name"]:
            calls.append([])
        elif calls:
            calls[-1].append(event)
    return calls


def medians(calls):
    usual = collections.Counter(map(len, calls)).most_common(1)
    count = usual[0][0] if usual else 0
    same = [call for call in calls if len(call) == count]
    return [one([call[k] for call in same], [call[0] for call in same]) for k in range(count)]


def one(events, first):
    about = events[0].get("args", {})
    return {"name": events[0]["name"], "seconds": 1e-6 * statistics.median(e["dur"] for e in events),
            "begins": 1e-6 * statistics.median(e["ts"] - f["ts"] for e, f in zip(events, first)),
            "blocks": product(about.get("grid", ())), "threads": product(about.get("block", ()))}


def product(sizes):
    count = 1
    for size in sizes:
        count *= int(size)
    return count
