"""steps: the step of `generate` that writes a token a row, as one CUDA graph. A small model's step is a thousand launches, which take longer than they run."""
import contextlib
import functools

import torch


def captured(run):
    """What a function launches, as a graph: how to launch it again, and where its results lie. Nothing runs yet."""
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        out = run()
    return graph.replay, out


def stepping(forward, capture):
    """`forward` whose steps of one token a row are captured once; the first such step runs as it is, so that libraries have chosen their kernels."""
    held, steps, replay, out = {}, 0, None, None

    @functools.wraps(forward)
    def step(**given):
        nonlocal steps, replay, out
        steps += given["input_ids"].shape[1] == 1
        if given["input_ids"].shape[1] > 1 or steps < 2:
            return forward(**given)
        tensors = {name: value for name, value in given.items() if isinstance(value, torch.Tensor)}
        if not replay:
            held.update({name: value.clone() for name, value in tensors.items()})
            replay, out = capture(lambda: forward(**dict(given, **held)))
        for name, value in tensors.items():
            held[name].copy_(value)
        replay()
        return out
    return step


@contextlib.contextmanager
def graphed(model, capture=captured):
    """Within, steps of the model are graphs, for one call of `generate`: the cache of a call has its own place."""
    model.forward = stepping(model.forward, capture)
    try:
        yield
    finally:
        del model.forward
