"""The launcher of the backend of torch.compile, on a libcuda that only writes down what it is asked: parameter blocks, graphs and what is
changed in them, parameters whose packed forms are made again, and what happens where the driver fails."""
import contextlib
import ctypes
import gc
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import types
import unittest
import weakref
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
os.environ.setdefault("CAWB_PROGRAM", str(ROOT / "build" / "release" / "bin" / "cawb"))
LIBRARY = os.environ.setdefault("CAWB_LAUNCHER_LIBRARY", str(ROOT / "build" / "release" / "lib" / "libcawb_launcher.so"))
sys.path.insert(0, str(ROOT / "python"))

import torch                                  # noqa: E402  pylint: disable=wrong-import-position
from torch._subclasses.fake_tensor import FakeTensorMode        # noqa: E402  pylint: disable=wrong-import-position
from cawb.backend import calls, native, packages        # noqa: E402  pylint: disable=wrong-import-position


class OnProcessor(native.Native):
    """Its tensors are on the processor: the driver below touches none."""

    def __setattr__(self, name, value):
        object.__setattr__(self, name, torch.device("cpu") if name == "device" else value)


def kernel(name, refs, args, **more):
    return {"kind": "launch", "kernel": name, "grid": [2, 1, 1], "block": [64, 1, 1], "cluster": [1, 1, 1], "shared": 0, "cooperative": False,
            "args": args, "refs": refs, **more}


# A fill and two kernels; with a parameter, one kernel that packs it.
TENSORS = [{"role": role, "bytes": size} for role, size in (("input", 64), ("param", 64), ("output", 64), ("scratch", 64), ("scratch", 100),
                                                           ("scratch", 10))]
PREPARE = [kernel("pack", [[0, 1, 0], [8, 5, 0]], "00" * 16)]
CALL = [{"kind": "fill", "tensor": 3, "bytes": 64, "pattern": 7},
        kernel("first", [[8, 0, 0], [16, 4, 4]], "0102030405060708" + "00" * 16, shared=65536),
        kernel("second", [[0, 2, 0], [8, 5, 0]], "00" * 16, cluster=[2, 1, 1], cooperative=True, shared=49152)]


# Of its launches the first, and one behind a fill, do not begin early, whatever they say: what is ahead of them is no launch of the call.
DEPENDENT = [kernel("first", [[0, 0, 0]], "00" * 16, dependent=True), kernel("second", [[0, 2, 0]], "00" * 16, dependent=True),
             {"kind": "fill", "tensor": 3, "bytes": 64, "pattern": 7}, kernel("third", [[0, 3, 0]], "00" * 16, dependent=True),
             kernel("fourth", [[0, 2, 0], [8, 5, 0]], "00" * 16, cluster=[2, 1, 1], dependent=True)]

FORM = ((16,), (1,), torch.float32)


def given(**about):
    """Arguments and results as of a graph `f(x, w)`."""
    return types.SimpleNamespace(**{"places": [("input", 0), ("param", 0)], "count": 2, "constants": [], "loose": [],
                                    "results": [calls.Result(calls.MADE, 0)], **about})


def beginning(size):
    """A tensor that begins where PyTorch's allocator begins one on a GPU."""
    room = torch.empty(size + 64)
    return room[-room.data_ptr() // 4 % 64:][:size]


class Pool:
    """Memory as PyTorch's allocator gives that of a GPU: the smallest free block that is large enough, or a part of it; free again once
    its tensor is gone."""

    def __init__(self):
        self.room, self.free = beginning(1 << 14), [(0, 1 << 14)]                          # blocks: first element, elements

    def take(self, size, strides, dtype):
        wanted = (math.prod(size) * dtype.itemsize + 511) // 512 * 128
        first, whole = min((block for block in self.free if block[1] >= wanted), key=lambda block: block[::-1])
        self.free.remove((first, whole))
        self.free += [(first + wanted, whole - wanted)] if whole > wanted else []
        taken = self.room[first:first + wanted].view(dtype).as_strided(size, strides)
        weakref.finalize(taken, self.free.append, (first, wanted))
        return taken


@unittest.skipUnless(os.path.exists(LIBRARY), "the launcher is not built")
class Launcher(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.room = tempfile.TemporaryDirectory(prefix="cawb-launcher-")
        cls.folder = pathlib.Path(cls.room.name)
        (cls.folder / "image").write_bytes(b"machine code")
        fake = str(cls.folder / "libcuda.so.1")
        subprocess.run([os.environ.get("CC", "cc"), "-shared", "-fPIC", "-Wall", "-Werror", "-Wl,-soname,libcuda.so.1", "-o", fake,
                        str(ROOT / "tests" / "cuda" / "fake_driver.c")], check=True)
        ctypes.CDLL(fake)                     # the launcher finds it by its name

    @classmethod
    def tearDownClass(cls):
        cls.room.cleanup()

    def drive(self, graph, call=None, **more):
        """Three calls, the third with a changed parameter: what failed, the facts, and the driver's lines."""
        log = self.folder / "log"
        log.unlink(missing_ok=True)
        log.touch()
        package = types.SimpleNamespace(export={"tensors": TENSORS, "prepare": PREPARE, "call": call or CALL},
                                        path=lambda _: str(self.folder / "image"))
        said, outs, x, w = [], [], beginning(16), beginning(16)
        with contextlib.ExitStack() as stack:
            stack.enter_context(mock.patch.dict(os.environ, {"FAKE_LOG": str(log), **more}))
            self.without_gpu(stack)
            one = OnProcessor(package, [FORM], types.SimpleNamespace(gpu=0), types.SimpleNamespace(cuda_graph=graph), given())
            for number in range(3):
                if number == 2:
                    w.mul_(2)
                try:
                    outs += one.run(x, w)
                except RuntimeError as error:
                    said.append(str(error))
            facts = {"counts": one.counts(), "x": x.data_ptr(), "outs": [o.data_ptr() for o in outs]}
        return said, facts, log.read_text().strip().split("\n")

    @staticmethod
    def without_gpu(stack, device=lambda: 0):
        for where, name, value in ((native, "current_device", lambda: device), (native, "stream_of", lambda: lambda _: 0x77),
                                   (torch.cuda, "current_stream", mock.Mock()), (torch.cuda, "device", mock.MagicMock())):
            stack.enter_context(mock.patch.object(where, name, value))

    @contextlib.contextmanager
    def package(self, device=lambda: 0, **about):
        """One of two kernels and a fill, and the driver's lines."""
        log, found = self.folder / "log", types.SimpleNamespace(export={"tensors": TENSORS, "prepare": PREPARE, "call": CALL},
                                                                path=lambda _: str(self.folder / "image"))
        log.write_text("")
        with contextlib.ExitStack() as stack:
            stack.enter_context(mock.patch.dict(os.environ, {"FAKE_LOG": str(log)}))
            self.without_gpu(stack, device)
            yield OnProcessor(found, [FORM], types.SimpleNamespace(gpu=0), types.SimpleNamespace(cuda_graph=0), given(**about)), \
                lambda: log.read_text().strip().split("\n")

    @staticmethod
    def address(line, at):
        """The address at a byte of a line's parameter block."""
        return int.from_bytes(bytes.fromhex(line.split("args ")[1].split(" ")[0])[at:at + 8], "little")

    def test_a_number_of_a_graph_has_data_while_a_graph_is_compiled(self):
        place, number = types.SimpleNamespace(device=torch.device("cpu")), torch.tensor(2.0)
        with FakeTensorMode():
            there = native.Native.there(place, number)
        self.assertEqual(there.item(), 2.0)

    def test_plain_launches(self):
        said, facts, lines = self.drive(0)
        self.assertEqual(said, [])
        self.assertEqual(facts["counts"], [0, 0, 8, 0])             # twice packed, three calls of two kernels
        self.assertIn("set first 8 65536", lines)
        self.assertIn("set second 8 49152", lines)                  # its own __shared__ variables come to these
        packed = [i for i, line in enumerate(lines) if line.startswith("launch pack")]
        self.assertEqual(len(packed), 2)                            # for the second call nothing had changed
        first = next(line for line in lines if line.startswith("launch first"))
        self.assertIn("args 0102030405060708", first)
        self.assertEqual(self.address(first, 8), facts["x"])
        self.assertIn("stream 0x77", first)
        fill = next(line for line in lines if line.startswith("fill"))
        self.assertIn(" 7 16 ", fill)
        scratch = int(fill.split(" ")[1], 16)
        self.assertEqual(self.address(first, 16), scratch + 256 + 4)          # one allocation, its parts at multiples of 256
        second = [line for line in lines if line.startswith("launch second")]
        self.assertEqual([self.address(line, 0) for line in second], facts["outs"])
        self.assertEqual({self.address(line, 8) for line in second}, {self.address(lines[i], 8) for i in packed})
        self.assertIn("attrs 2", second[0])

    def test_a_graph_is_made_once_and_follows_addresses(self):
        said, facts, lines = self.drive(3)
        self.assertEqual(said, [])
        made, changed, started, _ = facts["counts"]
        self.assertEqual((made, started), (1, 2))                   # only packing is started alone
        self.assertEqual(sum(line.startswith("graph stream 0x77") for line in lines), 3)
        self.assertEqual(sum("node" in line for line in lines), 3)
        self.assertTrue(all(line.endswith("after 1") or " after 1 " in line for line in lines if "node" in line and "memset" not in line))
        self.assertIn("attribute 4 2", lines)
        self.assertIn("attribute 2 1", lines)
        last = [self.address(line, 0) for line in lines if line.startswith(("node second", "change second"))]
        self.assertEqual(last, [a for i, a in enumerate(facts["outs"]) if i == 0 or a != facts["outs"][i - 1]])
        self.assertEqual(sum(line.startswith("change") for line in lines), changed)

    def test_kernels_begin_early_by_edges_of_the_graph(self):
        said, facts, lines = self.drive(3, DEPENDENT, FAKE_MAJOR="9")
        self.assertEqual((said, facts["counts"][0], facts["counts"][3]), ([], 1, 2))
        nodes = [line for line in lines if "node" in line]
        # the first, behind nothing; one behind it by an edge alone; a fill; one behind the fill; one behind that by an edge alone
        self.assertEqual([line.split(" after ")[1].split(" ")[0] for line in nodes], ["0", "0", "1", "1", "0"])
        self.assertEqual([line for line in lines if line.startswith("edge")], ["edge 1 1 0 1"] * 2)       # from its neighbour, programmatic

    def test_kernels_begin_early_by_launches(self):
        for more in ({"graph": 0}, {"graph": 3, "FAKE_CAPTURING": "1"}):
            _, facts, lines = self.drive(call=DEPENDENT, FAKE_MAJOR="9", **more)
            early = [line.split(" ")[1] for line in lines if line.startswith("launch") and " programmatic" in line]
            self.assertEqual((early, facts["counts"][3]), (["second", "fourth"] * 3, 6))

    def test_a_chip_that_cannot_begin_early_gets_full_dependencies(self):
        for graph in (0, 3):
            said, facts, lines = self.drive(graph, DEPENDENT, FAKE_MAJOR="8")
            self.assertEqual((said, facts["counts"][3]), ([], 0))
            self.assertFalse(any(" programmatic" in line or line.startswith("edge") for line in lines))

    def test_a_graph_without_early_beginnings_where_those_fail(self):
        for times, which in enumerate(("edges", "change"), 1):
            said, facts, lines = self.drive(3, DEPENDENT, FAKE_MAJOR="9", FAKE_FAIL=which, FAKE_TIMES=str(times))      # each once
            self.assertEqual(said, [])
            self.assertEqual(facts["counts"][0], 1 if which == "edges" else 2)
            self.assertEqual(sum(line.startswith("graph stream") for line in lines), 3)

    def test_results_that_are_kept_do_not_move_scratch(self):
        pool = Pool()
        with mock.patch.object(native, "allocator", lambda device: pool.take):
            _, facts, lines = self.drive(3)
        self.assertEqual(len(set(facts["outs"])), 3)
        self.assertEqual([line.split(" ")[1] for line in lines if line.startswith("change")], ["second"] * 2)      # the one that writes results

    def test_a_stream_that_is_captured_gets_launches(self):
        _, facts, lines = self.drive(3, FAKE_CAPTURING="1")
        self.assertEqual(facts["counts"], [0, 0, 9, 0])             # and packs in every call
        self.assertFalse(any(line.startswith("graph") for line in lines))

    def test_no_graph_can_be_made(self):
        for which in ("graph", "instantiate"):
            said, facts, _ = self.drive(3, FAKE_FAIL=which)
            self.assertEqual((said, facts["counts"]), ([], [0, 0, 8, 0]))

    def test_a_launch_that_fails_is_named(self):
        said, _, _ = self.drive(0, FAKE_FAIL="launch")
        self.assertEqual(said, ["cawb: pack: CUDA_ERROR_ILLEGAL_ADDRESS"] * 3)

    def launches(self, lines, name):
        return [line for line in lines() if line.startswith("launch " + name)]

    def test_tensors_that_begin_elsewhere_are_copied(self):
        x, w = beginning(20)[1:17].fill_(3), beginning(20)[1:17]
        with self.package() as (one, lines), mock.patch.object(native, "aligned", wraps=native.aligned):
            one.run(x, w)
            at = [self.address(self.launches(lines, name)[0], place) for name, place in (("first", 8), ("pack", 0))]
        self.assertFalse(set(at) & {x.data_ptr(), w.data_ptr()})
        self.assertEqual([a % 64 for a in at], [0, 0])

    def test_parameters_of_inference_mode_are_packed_in_every_call(self):
        with torch.inference_mode():
            w = beginning(16)
            with self.package() as (one, lines):
                for _ in range(3):
                    one.run(beginning(16), w)
                self.assertEqual(len(self.launches(lines, "pack")), 3)

    def test_a_parameter_that_lies_elsewhere_is_packed_anew(self):
        w = torch.nn.Parameter(beginning(16))
        with self.package() as (one, lines):
            one.run(beginning(16), w)
            w.data = beginning(16)
            for _ in range(2):
                one.run(beginning(16), w)
            self.assertEqual([self.address(line, 0) for line in self.launches(lines, "pack")][1:], [w.data_ptr()])

    def test_another_current_device(self):
        current = iter([1, 0])
        with self.package(device=lambda: next(current)) as (one, lines):
            one.run(beginning(16), beginning(16))
            self.assertEqual(len(self.launches(lines, "first")), 1)
            torch.cuda.device.assert_called_with(0)

    def test_results(self):
        found = [calls.Result(calls.MADE, 0, ((4, 4), (1, 4), 0)), calls.Result(calls.ARGUMENT, 1), calls.Result(calls.OBJECT, 0, "a value")]
        x, w = beginning(16), beginning(16)
        with self.package(results=found) as (one, lines):
            seen, same, value = one.run(x, w)
            self.assertEqual(seen.data_ptr(), self.address(self.launches(lines, "second")[0], 0))
        self.assertEqual((seen.shape, seen.stride(), value), ((4, 4), (1, 4), "a value"))
        self.assertIs(same, w)

    def test_an_entry_calls_the_package_only_where_it_was_chosen(self):
        args = beginning(16), beginning(16)
        with self.package() as (one, _):
            entry = one.entry(lambda *given: given)
            self.assertIs(entry(*args)[0], args[0])
            one.choose(packages.precision())
            self.assertIsNot(entry(*args)[0], args[0])
            one.choose(tuple("another" for _ in packages.precision()))
            self.assertIs(entry(*args)[0], args[0])
            one.choose(None)
            self.assertIs(entry(*args)[0], args[0])

    def test_an_entry_sees_the_forms_of_arguments(self):
        w = beginning(16)
        with self.package(loose=[(0, ((4, 4), (4, 1)))]) as (one, _):
            self.assertTrue(one.checks)
            entry = one.entry(lambda *_: "others")
            one.choose(packages.precision())
            for x, fits in ((beginning(16).view(4, 4), True), (beginning(16).view(4, 4).t(), False), (beginning(16).view(2, 8), False),
                            (beginning(16), False)):
                self.assertEqual(entry(x, w) != "others", fits)

    def test_a_wrong_number_of_arguments(self):
        with self.package() as (one, _):
            with self.assertRaisesRegex(TypeError, "a graph takes 2 arguments, not 1"):
                one.run(beginning(16))

    def test_a_package_ends_with_its_last_function(self):
        with self.package() as (one, _):
            entry, gone = one.entry(lambda *_: None), weakref.ref(one)
            one.choose(packages.precision())
            one.run(beginning(16), beginning(16))
            del one
            gc.collect()
            self.assertIsNotNone(gone())
            entry(beginning(16), beginning(16))
        del entry
        gc.collect()
        self.assertIsNone(gone())


if __name__ == "__main__":
    unittest.main()
