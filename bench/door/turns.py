"""turns: programs that share one GPU and compile beside each other. One at a time executes there, on processors of its own, so that its
times are not those of the others' work; it gives its turn away while it compiles. And seconds that compilers take."""
import contextlib
import fcntl
import functools
import importlib
import os
import time

import torch
from torch._functorch import config
from torch._inductor.runtime import benchmarking

from cawb import backend
from cawb.backend import fallback, part

OWN = 2                    # processors of the program whose turn it is


def on_processors(numbers):
    """All threads of this process."""
    for thread in os.listdir("/proc/self/task"):
        with contextlib.suppress(OSError):                        # one that has ended
            os.sched_setaffinity(int(thread), numbers)


class Turns:
    """`path`: a file to lock; None where nobody else executes. A lock of lockf ends with its process, however that ends."""

    def __init__(self, path):
        # pylint: disable=consider-using-with
        self.file, self.mine, self.seconds, self.waited = open(path, "a", encoding="utf-8") if path else None, False, {}, 0.0
        everyone = sorted(os.sched_getaffinity(0))
        self.own, self.rest = (everyone[:OWN], everyone[OWN:]) if path and len(everyone) > 4 * OWN else (everyone, everyone)
        on_processors(self.rest)

    def take(self):
        if self.file and not self.mine:
            begin = time.perf_counter()
            fcntl.lockf(self.file, fcntl.LOCK_EX)
            self.waited += time.perf_counter() - begin
            on_processors(self.own)
        self.mine = True

    def give(self):
        if self.file and self.mine:
            if torch.cuda.is_available():
                torch.cuda.synchronize()
                torch.cuda.empty_cache()
            on_processors(self.rest)
            fcntl.lockf(self.file, fcntl.LOCK_UN)
        self.mine = False

    @contextlib.contextmanager
    def compiling(self, name):
        """Without the turn. What compiles inside of another compilation counts there; waiting for a turn does not count."""
        outer, before = self.seconds.get("inside"), self.mine
        self.give()
        self.seconds["inside"], begin = name, time.perf_counter() - self.waited
        try:
            yield
        finally:
            self.seconds["inside"] = outer
            if outer is None:
                self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - self.waited - begin
            self.take() if before else self.give()

    def taking(self, f):
        """f, once it is this program's turn."""
        @functools.wraps(f)
        def call(*given):
            self.take()
            return f(*given)
        return call

    def clocked(self, name, f):
        @functools.wraps(f)
        def call(*given, **more):
            with self.compiling(name):
                return f(*given, **more)
        return call

    def borrowing(self, f):
        """f, in this program's turn, which it gives away again."""
        @functools.wraps(f)
        def call(*given, **more):
            before = self.mine
            self.take()
            try:
                return f(*given, **more)
            finally:
                if not before:
                    self.give()
        return call

    def watch(self):
        """The backend takes its turns: it compiles without, and a first call that executes waits for one. "choice" are the seconds for
        Inductor's function of a graph, which a package is timed beside, where it was not compiled while the package was made. Backward
        graphs are compiled with their forward graphs: PyTorch waits for the first backward call otherwise, which has the turn. Inductor's
        autotuning has the turn for each kernel that it times, and compiles without. Returns a function that ends this."""
        ending = contextlib.ExitStack()
        ending.enter_context(config.patch(force_non_lazy_backward_lowering=True))
        self.change(ending, backend, "static", self.clocked("cawb", backend.static))
        self.change(ending, fallback, "make", self.clocked("choice", fallback.make))
        for kind in (part.Part, part.Cut):
            self.change(ending, kind, "first", self.taking(kind.first))
        self.change(ending, benchmarking.benchmarker, "benchmark_gpu", self.borrowing(benchmarking.benchmarker.benchmark_gpu))
        return ending.close

    @staticmethod
    def change(ending, owner, name, value):
        ending.callback(setattr, owner, name, getattr(owner, name))
        setattr(owner, name, value)

    def inductor(self, module, mode):
        """torch.compile(module, mode=mode), likewise."""
        compiler = self.clocked("inductor", importlib.import_module("torch._inductor.compile_fx").compile_fx)
        patches = torch._inductor.list_mode_options(mode)                  # pylint: disable=protected-access
        return torch.compile(module, backend=lambda graph, example: self.taking(compiler(graph, example, config_patches=patches)))

    def spent(self):
        """{compiler: seconds} since the last time."""
        found, self.seconds = {name: s for name, s in self.seconds.items() if name != "inside"}, {}
        return found
