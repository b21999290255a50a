"""One output judged by the kernels of judge.cu: the statistics of reference.py, on a GPU.

Comparing begins with launches and finishes with what a Readback brought, so that
any number of outputs and slots costs one transfer. The statistics of the reference
and of eager PyTorch's output come with the first of them.
"""
import torch

from cawb_host.judge.compare import gpu
from cawb_host.judge.compare import slope
from cawb_host.judge.compare.apart import Apart
from cawb_host.judge.compare.gpu import Readback
from cawb_host.judge.compare.reference import (CLASSES, FAR, Expected, blank, describe, describe_index, grid, item, nothing, place,
                       statistics)
from cawb_host.base.tensors import number


def expected(judge, reference, eager, index=None):
    """What to hold outputs against, with the means that there are; `index` for indices."""
    if judge is None or eager.numel() == 0:
        return Expected(reference, eager, index)
    if eager.dtype.is_floating_point:
        return Judged(judge, reference, eager)
    return JudgedExactly(judge, reference, eager, index)


def known(all_expected):
    """Let it be known how far eager PyTorch is off, where that still lies on the device."""
    back = Readback()
    begun = [(e, e.begin_known(back)) for e in all_expected if isinstance(e, Judged)]
    back.read()
    for e, handles in begun:
        e.finish_known(handles, back)


def rows_of_bytes(tensor):
    """One row: the bytes of a contiguous tensor."""
    return tensor.reshape(1, -1).view(torch.uint8)


class Judged:
    def __init__(self, judge, reference, eager):
        self.judge, self.dtype, self.shape = judge, eager.dtype, list(eager.shape)
        self.numel = eager.numel()
        self.rows, self.cols = grid(self.shape)
        self.apart = Apart(reference, eager)
        self.reference = self.apart.without(reference.to(torch.float64)).reshape(self.rows, self.cols)
        eager = self.apart.without(eager).contiguous()
        self.known = judge.reference(self.reference)
        self.first = self.launch(rows_of_bytes(eager))
        self.eager_slope = slope.of_eager(eager, self.reference)
        self.rms = self.scale = self.zeros = self.odd = self.eager_error = None  # until they have been read back

    def bytes(self):
        return self.reference.numel() * 8

    def launch(self, outs, poison=None):
        return self.judge.compare(outs, self.dtype, self.reference, self.known, FAR[self.dtype],
                                  poison)

    def begin(self, outs, poison, back):
        """Compare outputs that lie in the rows of a matrix of bytes; the handle is for
        finish(), once `back` has been read."""
        self.told = [self.apart.describe(self.values(out)) for out in outs] if self.apart.mask is not None else []
        if self.told:
            outs = torch.cat([rows_of_bytes(self.apart.without(self.values(out)).contiguous()) for out in outs])
        return self.begin_known(back), back.add(self.launch(outs, poison))

    def values(self, out):
        """One row of bytes as the output that it is."""
        return out[:self.numel * self.dtype.itemsize].view(self.dtype).view(self.shape)

    def begin_known(self, back):
        if self.first is None:
            return None
        return back.add(self.known[0]), back.add(self.first)

    def finish_known(self, handles, back):
        if self.first is None:
            return
        about, first = map(back.numbers, handles)
        self.rms, self.scale, self.zeros = about[gpu.RMS], about[gpu.SCALE], int(about[gpu.ZEROS])
        self.odd = self.numel - int(about[gpu.FINITE])
        self.eager_error = self.errors(first)
        self.first = None

    def finish(self, handles, back):
        """One entry per output."""
        self.finish_known(handles[0], back)
        values = back.numbers(handles[1])
        entries = [self.entry(values[i:i + gpu.FIELDS]) for i in range(0, len(values), gpu.FIELDS)]
        for entry, told in zip(entries, self.told):
            entry["apart"] = told
        return entries

    def measure(self, out):
        """The errors of an output that PyTorch made."""
        back = Readback()
        handles = self.begin_known(back), back.add(self.launch(rows_of_bytes(self.apart.without(out).contiguous())))
        back.read()
        self.finish_known(handles[0], back)
        return self.errors(back.numbers(handles[1]))

    def errors(self, tally):
        found = self.found(tally, 0)
        found.pop("index")
        return found

    def found(self, tally, unwritten):
        far, first = tally[gpu.FAR], tally[gpu.FIRST]
        if first < gpu.NONE or unwritten:
            return nothing(self, far, int(first) if first < gpu.NONE else None)
        index = int(tally[gpu.WORST_AT])
        return statistics(self, tally[gpu.SQUARE], tally[gpu.SUM], far, tally[gpu.WORST],
                          (int(tally[gpu.ROW_AT]), tally[gpu.ROW]), tally[gpu.CLOSE], index)

    def entry(self, tally):
        counts = map(int, tally[gpu.NANS:gpu.UNWRITTEN + 1])
        entry = dict(blank(self), **dict(zip(CLASSES + ("unwritten",), counts)))
        found = self.found(tally, entry["unwritten"])
        index, worst = found.pop("index"), {}
        if index is not None:
            worst = {"index": place(index, self.shape), "got": number(tally[gpu.GOT]),
                     "want": number(tally[gpu.WANT])}
        return describe(entry, self, found, worst)


class JudgedExactly:
    """Integers and bools: equal to the reference or to eager PyTorch's."""
    eager_slope = None

    def __init__(self, judge, reference, eager, index=None):
        self.judge, self.dtype, self.shape = judge, eager.dtype, list(eager.shape)
        self.numel, self.eager, self.index = eager.numel(), eager, index
        self.reference = reference.to(eager.dtype)
        self.first = judge.exact(rows_of_bytes(eager), self.reference, None, 0)
        self.eager_error = None

    def bytes(self):
        copies = 1 if self.eager is None else 2
        scores = self.index.bytes() if self.index else 0
        return copies * self.numel * self.reference.element_size() + scores

    def begin(self, outs, poison, back):
        first = back.add(self.first) if self.first is not None else None
        return outs, first, back.add(self.judge.exact(outs, self.reference, self.eager, poison))

    def finish(self, handles, back):
        outs, first, mine = handles
        if self.first is not None:
            self.finish_first(back.numbers(first))
        values = back.numbers(mine)
        return [self.entry(out, values[i * gpu.FIELDS:]) for i, out in enumerate(outs)]

    def finish_first(self, tally):
        self.eager_error, self.first = {"mismatches": int(tally[gpu.FAR])}, None
        if not self.eager_error["mismatches"]:
            self.eager = None

    def measure(self, out):
        back = Readback()
        handle = back.add(self.judge.exact(rows_of_bytes(out), self.reference, None, 0))
        back.read()
        return {"mismatches": int(back.numbers(handle)[gpu.FAR])}

    def entry(self, out, tally):
        entry = dict(blank(self), unwritten=int(tally[gpu.UNWRITTEN]),
                     mismatches=int(tally[gpu.FAR]), eager=self.eager_error)
        values = out[:self.numel * self.reference.element_size()].view(self.dtype)
        describe_index(entry, self, values)
        if entry["mismatches"]:
            index = int(tally[gpu.FIRST])
            entry["first"] = self.about(values, index)
        return entry

    def about(self, out, index):
        return {"index": place(index, self.shape), "got": item(out, index), "want": item(self.reference, index)}
