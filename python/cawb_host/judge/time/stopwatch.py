"""Times PyTorch calls on one device. All results are in seconds.

A sample is one call between two CUDA events with a cold L2 cache: write twice the L2,
spin on the device until the host has launched everything, run. The samples of a batch
are queued one behind the other, and waited for once.
"""
import time

import torch

UNKNOWN_L2 = 128 << 20   # bytes to assume where PyTorch does not tell


class Stopwatch:
    def __init__(self, device):
        self.device, self.pairs = device, []
        about = torch.cuda.get_device_properties(device)
        l2 = getattr(about, "L2_cache_size", 0) or UNKNOWN_L2
        with torch.cuda.device(device):
            self.flush = torch.empty(2 * l2, dtype=torch.uint8, device=device)
            self.rate = self.spin_rate()

    def wait(self):
        torch.cuda.synchronize(self.device)

    def pair(self, number):
        while number >= len(self.pairs):
            self.pairs.append([torch.cuda.Event(enable_timing=True) for _ in range(2)])
        return self.pairs[number]

    def spin_rate(self, cycles=10_000_000):
        """Cycles of a device spin in a second."""
        start, end = self.pair(0)
        torch.cuda._sleep(cycles)
        start.record()
        torch.cuda._sleep(cycles)
        end.record()
        self.wait()
        return cycles / (start.elapsed_time(end) * 1e-3)

    def launch_time(self, forward, args):
        """Seconds that the host needs to launch one forward."""
        self.wait()
        started = time.perf_counter()
        forward(*args)
        host = time.perf_counter() - started
        self.wait()
        return host

    def call_time(self, forward, args):
        """Seconds of one forward as the host sees it: launched and waited for, warm."""
        self.wait()
        started = time.perf_counter()
        forward(*args)
        self.wait()
        return time.perf_counter() - started

    def batch(self, forward, inputs, spin):
        """[(seconds, late)], one for each of `inputs`: late when the GPU had done with the
        spin before the host had launched everything, so that the time holds some of the
        host's."""
        late = []
        with torch.cuda.device(self.device):
            self.wait()
            for number, args in enumerate(inputs):
                start, end = self.pair(number)
                self.flush.zero_()
                torch.cuda._sleep(max(1, int(spin * self.rate)))
                start.record()
                forward(*args)
                end.record()
                late.append(start.query())
            self.wait()
            return [(start.elapsed_time(end) * 1e-3, was_late)
                    for (start, end), was_late in zip(self.pairs, late)]
