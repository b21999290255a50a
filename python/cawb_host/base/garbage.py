"""garbage: what earlier tasks and failures may still hold. What imports made stays, and is looked through once: all of PyTorch takes 0.15 s."""
import gc
import sys


class Garbage:
    def __init__(self):
        self.imported = 0

    def collect(self):
        gc.collect()
        if len(sys.modules) > self.imported:
            gc.freeze()
            self.imported = len(sys.modules)
