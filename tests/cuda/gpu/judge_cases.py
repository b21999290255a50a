"""What the judge's kernels say of an output, against what the library for processors says.

Run by tests/cuda/gpu/test_judge.lua with a GPU (arguments: folder of the task host, the
compiled kernels, the library), by tests/judge/host/test_judge.py with a simulated one.
"""
import math
import sys
import unittest

import torch

NAN_POISON, FINITE_POISON = 0x7ff97ff9, 0x42004200
SHAPES = ((1,), (7,), (3, 5), (128, 1), (33, 40), (5, 4097), (2, 3, 9000), (70001,), (900, 2))
DTYPES = (torch.float32, torch.float16, torch.bfloat16, torch.float64)
inf, nan = math.inf, math.nan


def close(a, b):
    """Equal, or numbers that differ by the order of a sum."""
    if isinstance(a, dict):
        return isinstance(b, dict) and a.keys() == b.keys() and all(close(a[k], b[k]) for k in a)
    if isinstance(a, float) and isinstance(b, float):
        return a == b or abs(a - b) <= 1e-9 * max(abs(a), abs(b)) + 1e-15
    return a == b


class JudgeCases:
    """A mixin: `judge` is a Judge, `device` where the tensors are."""

    def random(self, shape, dtype=torch.float64):
        made = torch.randn(shape, generator=self.generator, dtype=torch.float64)
        return made.to(device=self.device, dtype=dtype)

    def setUp(self):
        self.generator = torch.Generator()
        self.generator.manual_seed(1)

    def both(self, reference, eager, outs, poison=NAN_POISON):
        """Pairs of entries for outputs in slots: the library's, the kernels'."""
        from cawb_host.judge.compare.gpu import Readback
        from cawb_host.judge.compare.gpu_output import expected
        from cawb_host.judge.compare.reference import Expected
        slow, fast = Expected(reference, eager), expected(self.judge, reference, eager)
        self.assertIsNot(type(fast), Expected)
        size = eager.numel() * eager.element_size()
        stride = (size + 255) // 256 * 256
        memory = torch.zeros(stride * len(outs), dtype=torch.uint8, device=self.device)
        slots = memory.as_strided((len(outs), size), (stride, 1))
        for row, out in zip(slots, outs):
            row.copy_(out.contiguous().reshape(1, -1).view(torch.uint8)[0])
        found = []
        for _ in range(2):                  # what is known after the first time stays true
            back = Readback()
            begun = fast.begin(slots, poison, back)
            back.read()
            found.append(fast.finish(begun, back))
        self.assertEqual(found[0], found[1])
        return list(zip(slow.finish(slow.begin(slots, poison, None), None), found[0]))

    def agree(self, *arguments, **more):
        pairs = self.both(*arguments, **more)
        for want, got in pairs:
            self.assertTrue(close(want, got), "\n%s\n%s" % (want, got))
        return [got for _, got in pairs]

    def test_errors_of_every_size_of_output_and_dtype(self):
        for dtype in DTYPES:
            for shape in SHAPES:
                reference = self.random(shape)
                eager = reference.to(dtype)
                noisy = (reference * (1 + 1e-3 * self.random(shape))).to(dtype)
                one = eager.clone()
                one.view(-1)[one.numel() * 2 // 3] += 3
                with self.subTest(dtype=dtype, shape=shape):
                    entries = self.agree(reference, eager, [eager, noisy, one])
                    self.assertEqual(entries[2]["worst"]["index"], place_of(one))

    def test_values_of_the_wrong_kind(self):
        for dtype in DTYPES:
            reference = self.random((6, 700))
            for at, value in ((0, nan), (5, inf), (4199, -inf), (4100, nan)):
                reference.view(-1)[at] = value
            eager = reference.to(dtype)
            outs = [eager]
            for at, value in ((0, 1.0), (5, -inf), (5, nan), (4199, 2.0), (77, nan), (701, inf),
                              (4199, nan)):
                outs.append(eager.clone())
                outs[-1].view(-1)[at] = value
            with self.subTest(dtype=dtype):
                entries = self.agree(reference, eager, outs)
                self.assertEqual([e["nan"] + e["nan_missing"] + e["inf_mismatch"]
                                  for e in entries], [0] + [1] * 7)

    def test_what_was_not_written(self):
        for poison in (NAN_POISON, FINITE_POISON, 0x7ffa4001, 0x7ff9fffb):
            for dtype in DTYPES:
                reference = self.random((9, 333)) + 50     # no finite poison is near
                eager = reference.to(dtype)
                outs = [eager.clone() for _ in range(4)]
                self.poison(outs[0], poison, slice(None))
                self.poison(outs[1], poison, slice(100, 101))
                self.poison(outs[2], poison, slice(2996, 2997))
                with self.subTest(dtype=dtype, poison=hex(poison)):
                    entries = self.agree(reference, eager, outs, poison=poison)
                    self.assertEqual([e["unwritten"] for e in entries], [2997, 1, 1, 0])

    def poison(self, out, poison, where):
        from cawb_host.judge.compare.reference import poison_bits
        from cawb_host.base.tensors import BITS
        pattern = poison_bits(poison, out.numel(), out.dtype, self.device)
        out.view(-1).view(BITS[out.element_size()])[where] = pattern[where]

    def test_a_right_value_with_the_poison_s_bits_was_written(self):
        reference = torch.tensor([3.0, 3.01, 6.0, 0.0], dtype=torch.float64, device=self.device)
        eager = reference.half()
        out = torch.full_like(eager, 3.0)
        entry, = self.agree(reference, eager, [out], poison=FINITE_POISON)
        self.assertEqual(entry["unwritten"], 2)

    def test_zeros_and_rows_of_them(self):
        for reference in (torch.relu(self.random((40, 50)) - 2), torch.zeros(3, 5, dtype=torch.float64),
                          torch.zeros(2, 9001, dtype=torch.float64)):
            reference = reference.to(self.device)
            reference[1] = 0
            eager = reference.float()
            out, tiny = eager.clone(), eager.clone()
            out[1, 3], tiny[1, 3] = 1e-2, 1e-6
            self.agree(reference, eager, [eager, out, tiny, eager + 1])

    def test_what_only_the_dtype_cannot_hold(self):
        for dtype, large in ((torch.float16, 7e4), (torch.bfloat16, 3.4e38), (torch.float32, 1e39)):
            reference = torch.tensor([1.0, large, -large], dtype=torch.float64, device=self.device)
            eager = reference.to(dtype)
            top = torch.finfo(dtype).max
            out = torch.tensor([1.0, top, -top], dtype=dtype, device=self.device)
            entries = self.agree(reference, eager, [eager, out])
            self.assertEqual([e["inf_mismatch"] for e in entries], [0, 2], dtype)

    def test_what_even_float64_cannot_hold(self):
        reference = torch.full((3, 4), 1e308, dtype=torch.float64, device=self.device)
        entry, = self.agree(reference, reference, [-reference])
        self.assertEqual((entry["worst"]["error"], entry["nrms"]), (None, None))

    def test_integers_and_bools(self):
        for dtype in (torch.int64, torch.int32, torch.int16, torch.uint8, torch.bool):
            reference = self.random((50, 31)).abs().mul(100).floor()
            eager = reference.to(dtype)
            other = eager.clone()
            other[3, 3] = not other[3, 3] if dtype == torch.bool else other[3, 3] + 1
            wrong = eager.clone()
            wrong.view(-1)[40:44] = wrong.view(-1)[40:44] == 0 if dtype == torch.bool \
                else wrong.view(-1)[40:44] + 3
            untouched = eager.clone()
            self.poison(untouched, NAN_POISON, slice(None))
            for own in (eager, other):
                with self.subTest(dtype=dtype):
                    entries = self.agree(reference, own, [eager, other, wrong, untouched])
                    self.assertEqual(entries[2]["first"]["index"], [1, 9])

    def test_indices_and_what_they_point_to(self):
        from cawb_host.judge.compare.indices import Index, Place
        from cawb_host.judge.compare.gpu import Readback
        from cawb_host.judge.compare.gpu_output import expected
        from cawb_host.judge.compare.reference import Expected
        scores = self.random((40, 50), torch.float32)
        scores[3, 7] = scores[3, 9] = 9
        graph = {"name": "argmax", "args": {"dim": 1}, "traits": {"index": "first"}, "inputs": [{"shape": [40, 50]}],
                 "outputs": [{"shape": [40]}]}
        index = Index(Place(0, graph, True), scores, None)
        right = scores.argmax(1)
        right[3] = 7
        later, wrong, outside = right.clone(), right.clone(), right.clone()
        later[3], wrong[5], outside[6] = 9, (right[5] + 1) % 50, 50
        slots = torch.stack([t.view(torch.uint8) for t in (right, later, wrong, outside)])
        found = []
        for about in (Expected(right, right, index), expected(self.judge, right, right, index)):
            back = Readback()
            begun = about.begin(slots, NAN_POISON, back)
            back.read()
            found.append(about.finish(begun, back))
        self.assertTrue(all(map(close, *found)), found)
        said = [e["index"] for e in found[1]]
        self.assertEqual([i["later"] for i in said], [0, 1, 0, 0])
        self.assertEqual([i["outside"] for i in said], [0, 0, 0, 1])
        self.assertEqual([i["gap"] > 0 for i in said[:3]], [False, False, True])

    def test_a_measured_output_of_pytorch_s(self):
        from cawb_host.judge.compare.gpu_output import expected
        from cawb_host.judge.compare.reference import Expected
        reference = self.random((30, 300))
        eager = reference.float()
        other = (reference * 1.001).float()
        slow, fast = Expected(reference, eager), expected(self.judge, reference, eager)
        self.assertTrue(close(slow.measure(other), fast.measure(other)))
        other[2, 2] = nan
        self.assertTrue(close(slow.measure(other), fast.measure(other)))

    def test_the_same_memory_gives_the_same_bits(self):
        reference = self.random((3, 20000))
        out = (reference * 1.001).float()
        (one, _), (two, _) = (self.both(reference, reference.float(), [out, out])[i][::-1]
                              for i in (0, 1))
        self.assertEqual(one, two)

    def test_a_hash_sees_every_byte_and_its_place(self):
        base = torch.arange(100003, device=self.device).to(torch.uint8)
        hashes = set()
        changed = [base, base[:-1].clone(), base[1:], base.flip(0)]
        for at in (0, 1, 8, 50000, 99998, 100002):
            changed.append(base.clone())
            changed[-1][at] += 1
        swapped = base.clone()
        swapped[:16] = base[:16].roll(8)
        changed += [swapped, base[:0], base[:1]]
        for tensor in changed:
            hashes.add(int(self.judge.hash(tensor)))
        self.assertEqual(len(hashes), len(changed))
        shifted = torch.cat([base[:4], base])[4:]          # the same bytes at another alignment
        self.assertEqual(int(self.judge.hash(shifted)), int(self.judge.hash(base)))


def place_of(out):
    from cawb_host.judge.compare.reference import place
    return place(out.numel() * 2 // 3, list(out.shape))


def main(core, kernels, library):
    sys.path.insert(0, core)
    from cawb_host.judge.compare import native
    from cawb_host.judge.compare.gpu import Judge
    native.open_library(library)

    class OnGpu(JudgeCases, unittest.TestCase):
        @classmethod
        def setUpClass(cls):
            cls.device = torch.device("cuda:0")
            torch.cuda.set_device(cls.device)
            torch.zeros(1, device=cls.device)
            cls.judge = Judge(kernels, cls.device)

        @classmethod
        def tearDownClass(cls):
            cls.judge.close()

    result = unittest.TextTestRunner(verbosity=1).run(
        unittest.defaultTestLoader.loadTestsFromTestCase(OnGpu))
    return 0 if result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
