"""in_turns: seconds of a call on the GPU, of several programs in turns, so that each meets what the others meet."""
import time

SAMPLES, LEAST = 9, 0.03                      # of times; seconds of one sample


def timed(call, rounds):
    import torch                              # pylint: disable=import-outside-toplevel
    torch.cuda.synchronize()
    begin = time.perf_counter()
    for _ in range(rounds):
        call()
    torch.cuda.synchronize()
    return (time.perf_counter() - begin) / rounds


def times(calls, samples=SAMPLES):
    """Of each, by name, the seconds of all samples."""
    rounds = {name: max(1, int(LEAST / timed(call, 2))) for name, call in calls.items()}
    found = {name: [] for name in calls}
    for _ in range(samples):
        for name, call in calls.items():
            found[name].append(timed(call, rounds[name]))
    return found
