"""Inputs that a task never announced, and mutants of its reference."""
import ast
import pathlib
import sys
import types
import unittest
import os

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "support"))

from hostcase import HAVE_TORCH, POISON, PACKAGES, Loaded, TaskCase

if HAVE_TORCH:
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode
    from torch.utils._pytree import tree_leaves
    from cawb_host.judge import study
    from cawb_host.judge.inputs import battery, places

    class Largest(TorchDispatchMode):
        """Bytes of the largest memory that an operator makes."""
        bytes = 0

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            made, given = func(*args, **(kwargs or {})), {t.untyped_storage().data_ptr() for t in tree_leaves(args) if isinstance(t, torch.Tensor)}
            for t in tree_leaves(made):
                if isinstance(t, torch.Tensor) and t.untyped_storage().data_ptr() not in given:
                    self.bytes = max(self.bytes, t.untyped_storage().nbytes())
            return made

TASK = """
    import torch
    class Model(torch.nn.Module):
        def forward(self, x, i):
            return torch.matmul(x, x.t()), i + 1
    def get_inputs():
        return [torch.rand(6, 40), torch.arange(5)]
    def get_init_inputs():
        return []
"""


@unittest.skipUnless(HAVE_TORCH, "needs PyTorch")
class Battery(unittest.TestCase):
    def make(self, case, like, seed=3, **how):
        torch.manual_seed(seed)
        return battery.apply(case, [like], **how)[0]

    def test_every_case_keeps_shape_strides_and_type(self):
        for dtype in (torch.float32, torch.float16, torch.bfloat16, torch.float64):
            for like in (torch.zeros(3, 5, dtype=dtype), torch.zeros(5, 3, dtype=dtype).t(),
                         torch.zeros((), dtype=dtype), torch.zeros(0, 4, dtype=dtype),
                         torch.zeros(4, 1, dtype=dtype).expand(4, 6)):
                for case in battery.CASES:
                    made = self.make(case, like)
                    self.assertEqual((made.shape, made.stride(), made.dtype),
                                     (like.shape, like.stride(), like.dtype), case)

    def test_the_seed_decides(self):
        like = torch.zeros(4, 50)
        self.assertTrue(torch.equal(self.make("mixed", like), self.make("mixed", like)))
        self.assertIs(self.make(None, like), like)

    def test_whole_numbers_stay_within_what_the_task_has(self):
        labels = torch.randint(3, 17, (6, 200))
        made = self.make("mixed", labels)
        self.assertFalse(torch.equal(made, labels))
        self.assertTrue(int(made.min()) >= 3 and int(made.max()) <= 16)
        self.assertIs(self.make("mixed", labels, level="given"), labels)
        places = torch.arange(100).flip(0).repeat(3, 1)
        made = self.make("mixed", places)
        self.assertFalse(torch.equal(made, places))
        self.assertTrue(torch.equal(made.sort(1).values, places.flip(1)))
        ends = torch.tensor([0, 4, 4, 9, 20])
        self.assertTrue(torch.equal(self.make("mixed", ends), self.make("mixed", ends).sort().values))
        known = torch.arange(50)                # random ones that ascend go on to do so, the same ones always do not
        self.assertTrue(torch.equal(self.make("mixed", known), known))
        self.assertFalse(torch.equal(self.make("mixed", known, scene=battery.Scene(fixed={0})), known))

    def test_a_mask_allows_other_places_and_each_row_one(self):
        mask = torch.ones(40, 40, dtype=torch.bool).tril()
        made = self.make("mixed", mask)
        self.assertFalse(torch.equal(made, mask))
        self.assertTrue(bool(made.any(1).all()))

    def test_within_reaches_as_far_as_the_task_does(self):
        like = torch.rand(20, 300)
        for case in battery.CASES:
            made = self.make(case, like, level="within")
            finite = made[torch.isfinite(made)]
            self.assertTrue(float(finite.min()) >= float(like.min()) and float(finite.max()) <= float(like.max()), case)
        ids = torch.randint(7, (20, 30)).to(torch.float32)
        made = self.make("mixed", ids, level="within")
        self.assertTrue(torch.equal(made, made.round()) and float(made.max()) <= 6)

    def test_signs_constants_and_places_all_come(self):
        like = torch.randn(16, 300)
        below = same = differs = last = 0
        for seed in range(20):
            for case in ("mixed", "offset", "heavy", "ties", "constant"):
                made = self.make(case, like, seed)
                below += int((made.amax(1) < 0).sum())
                last += int((made.argmax(1) >= 292).sum())
                if case == "constant":
                    same += int((made == made[:, :1]).all(1).sum())
                    differs += int(((made != made.median(1, keepdim=True).values).sum(1) == 1).sum())
        self.assertTrue(min(below, same, differs, last) > 40, (below, same, differs, last))

    def test_what_looks_simple_by_most_of_its_elements_is_not(self):
        like = torch.randn(16, 300)
        seen, slices = {"before": 0, "zeros": 0, "whole": 0, "one value": 0}, 0
        for seed in range(40):
            made = self.make("mixed", like, seed)
            agree = {"before": made[1:] == made[:-1], "zeros": made == 0, "whole": made == made.round(),
                     "one value": made == made.median(1, keepdim=True).values}
            for name, places in agree.items():
                share = places.float().mean(1)
                seen[name] += int(((share > 0.8) & (share < 1)).sum())
            shaped = self.make("edges", torch.randn(8, 9, 10), seed)
            slices += any(0.8 <= float(share) < 1 for dim in range(3)
                          for share in (shaped.diff(dim=dim) == 0).float().movedim(dim, 0).flatten(1).mean(1))
        self.assertTrue(min(seen.values()) >= 5 and slices >= 15, (seen, slices))

    def test_of_few_rows_some_are_almost_the_task_s_own_or_something_simple(self):
        like, own, whole = torch.randint(2, 5, (6, 300)).float(), 0, 0
        for seed in range(20):
            made = self.make("almost", like, seed)
            share = (made == like).float().mean(1)
            own += bool(((share > 0.8) & (share < 1)).any())
            share = (made == made.round()).float().mean(1)
            whole += bool(((share > 0.8) & (share < 1)).any())
        self.assertEqual((own, whole), (20, 20))

    def test_some_indices_and_masks_are_the_task_s_own_but_for_a_few(self):
        places, mask, ids = torch.arange(64), torch.ones(16, 40, dtype=torch.bool).tril(8), torch.randint(9, (16, 40))
        near = [0, 0, 0]
        for seed in range(40):
            for i, (own, fixed) in enumerate(((places, {0}), (mask, ()), (ids, ()))):
                made = self.make("mixed", own, seed, scene=battery.Scene(fixed=fixed))
                share = (made == own).float().view(-1, own.shape[-1]).mean(1)
                near[i] += int(((share >= 0.75) & (share < 1)).sum())
            self.assertEqual(self.make("mixed", places, seed, scene=battery.Scene(fixed={0})).sort().values.tolist(), places.tolist())
        self.assertTrue(near[0] >= 8 and min(near[1:]) >= 80, near)

    def test_large_ones_are_made_in_pieces(self):
        was = battery.PIECE
        battery.PIECE = 100
        try:
            for case in battery.CASES:
                made = self.make(case, torch.full((50, 30), 7.0))
                self.assertFalse(bool((made == 7).any()) and case != "almost", case)     # which keeps some of the task's own
            mixed = self.make("mixed", torch.zeros(50, 30))
            self.assertGreater(float(mixed.std(1).max() / mixed.std(1).min()), 3)
            many = self.make("mixed", torch.zeros(200, 30))
            self.assertGreater(len({tuple(row) for row in many.abs().tolist()}), 11)      # twelve rows are drawn, others are like one of them
            self.assertLess(len({tuple((row / row.abs().max().clamp(min=1e-9)).abs().tolist()) for row in many}), 14)
            self.assertEqual(int(torch.isnan(many).sum()), 0)
        finally:
            battery.PIECE = was

    def test_no_copy_of_a_large_tensor_is_made_on_the_way(self):
        """What looks at all of a tensor, or brings it nearer to the task's own, makes pieces: wide, or its places as
        numbers, it would be many times as large."""
        like = torch.rand(64, 1000)
        near_to, drawn = like.double(), torch.randn(like.numel())
        was = battery.PIECE, study.PIECE
        battery.PIECE = study.PIECE = 1000
        try:
            with Largest() as seen:
                battery.reach(drawn, like)
                self.assertTrue(study.is_near(like, near_to))
                self.assertFalse(study.differ_visibly(like, like.view(64, 1000)))
        finally:
            battery.PIECE, study.PIECE = was
        self.assertLessEqual(seen.bytes, 8 * 1000)
        self.assertTrue(float(drawn.min()) == float(like.min()) and float(drawn.max()) == float(like.max()))

    def test_what_is_near_and_what_shows(self):
        x = torch.randn(3, 500)
        wide, odd = x.double(), x.clone()
        wide[1, 7], odd[1, 7] = float("inf"), float("nan")
        self.assertTrue(study.is_near(odd, wide))                # no number is asked for where the reference is none
        self.assertFalse(study.is_near(odd, x.double()))
        self.assertFalse(study.is_near(x * 1.01, x.double()))
        self.assertTrue(study.is_near(torch.zeros(3), torch.zeros(3).double()))
        self.assertTrue(study.differ_visibly(x, x * 1.01))
        self.assertFalse(study.differ_visibly(x, x * (1 + 1e-6)))

    def test_what_each_case_is(self):
        like = torch.zeros(20, 300)
        mixed = self.make("mixed", like)
        self.assertTrue((mixed > 0).any() and (mixed < 0).any())
        scales = mixed.std(1)
        self.assertGreater(float(scales.max() / scales.min()), 3)
        whole = self.make("integers", like) * 32
        self.assertTrue(torch.equal(whole, whole.round()) and float(whole.abs().max()) <= 32 * 24)
        outlier = self.make("outlier", like).abs()
        self.assertGreater(float(outlier.max()), 10 * float(outlier.median()))
        self.assertEqual(int(self.make("zeros", like).count_nonzero()), 0)
        offset = self.make("offset", like)
        self.assertTrue(bool(((offset > 0).all(1) | (offset < 0).all(1)).float().mean() > 0.5))
        middle, far = offset.mean(1).abs(), offset.mean(1).abs() / offset.std(1)
        for lies in (middle < 8, (middle > 10) & (middle < 200), middle > 1000):    # how large they are does not tell how far
            self.assertTrue(bool((far[lies] > 500).any()), lies)
        edges = self.make("edges", like)
        self.assertGreater(abs(float(edges[:, -1].mean())), 1)
        tiny = self.make("tiny", like)
        self.assertTrue(0 < float(tiny.abs().max()) < 1.2e-38)
        nan = self.make("nan", like)
        self.assertTrue(1 <= int(nan.isnan().sum()) <= 5 and not nan.isinf().any())
        odd = self.make("nonfinite", like)
        self.assertTrue(odd.isnan().any() and odd.isinf().any())

    def test_of_few_rows_the_largest_is_seldom_all_positive(self):
        alone = 0
        for seed in range(200):
            made = self.make("scales", torch.zeros(4, 100), seed)
            largest = made[made.abs().amax(1).argmax()]
            alone += bool((largest >= 0).all())
        self.assertLess(alone, 14)
        self.assertGreater(alone, 0)      # a smallest that begins at a large number is to be seen, too



class Cases(TaskCase):
    def test_a_case_is_compared_like_the_task_s_own_inputs(self):
        loaded = Loaded(self.host, self.write(TASK))
        self.assertTrue(loaded.reply["ok"], loaded.reply)
        for case in (None, "mixed", "integers"):
            reply = self.host.call("inputs", seed=5, poison=POISON, case=case)
            self.assertTrue(reply["ok"], reply)
            first = self.host.call("peek", what="inputs", index=1, count=100)["values"]
            if case:
                self.assertLess(min(first), 0)
            index = self.host.call("peek", what="inputs", index=2)["values"]
            self.assertEqual(sorted(index), [0, 1, 2, 3, 4])
            entry = self.host.call("compare", poison=POISON)["outputs"][0]
            self.assertEqual(entry["unwritten"], 36)
            self.assertEqual(entry["odd"], 0)
            self.assertEqual(entry["eager"]["worst"] == 0, case == "integers")

    def test_a_case_that_does_not_exist(self):
        Loaded(self.host, self.write(TASK))
        reply = self.host.call("inputs", seed=5, poison=POISON, case="mixd")
        self.assertEqual((reply["ok"], reply["name"]), (False, "invalid"))
        self.assertIn("no case 'mixd'", reply["message"])

    def test_mutants_are_judged_and_leave_the_task_as_it_was(self):
        loaded = Loaded(self.host, self.write(TASK))
        self.assertEqual(loaded.reply["density"]["inputs"], [1.0, 0.8])
        reply = self.host.call("mutants", seed=7)
        self.assertTrue(reply["ok"], reply)
        self.assertIn("identity", reply["left_out"])
        eager = reply["mutants"]["eager"][0]
        for name in ("zeros", "mean", "tf32", "bf16", "drop_last", "skip_row", "constant"):
            entry = reply["mutants"][name][0]
            self.assertGreater(entry["nrms"], 100 * eager["nrms"], name)
        self.assertGreater(reply["mutants"]["bf16"][0]["nrms"],
                           3 * reply["mutants"]["tf32"][0]["nrms"])
        again = self.host.call("mutants", seed=7)
        self.assertEqual(again["mutants"]["eager"], reply["mutants"]["eager"])

    def test_close_is_the_least_tolerance_at_which_allclose_holds(self):
        Loaded(self.host, self.write(TASK))
        reply = self.host.call("mutants", seed=9, case="mixed")
        entry = reply["mutants"]["zeros"][0]
        self.assertTrue(0.5 < entry["close"] < 1, entry)       # |y| / (1 + |y|)


REFUSES = """
    import torch
    import torch.nn.functional as F
    class Model(torch.nn.Module):
        def forward(self, p, ids):
            picked = torch.arange(9.0).gather(0, ids.long())
            return F.binary_cross_entropy(p, (p > 0.5).float(), reduction="none") + picked
    def get_inputs():
        return [torch.rand(6, 40), torch.randint(9, (6, 40)).reshape(-1).float().reshape(6, 40)[:, 0].repeat(40)[:40]]
    def get_init_inputs():
        return []
"""

WEIGHTS = """
    import torch
    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.norm = torch.nn.BatchNorm1d(40).eval()
            self.fc = torch.nn.Linear(40, 8)
            self.register_buffer("mask", torch.ones(40, 40).tril())
        def forward(self, x):
            return self.fc(self.norm(x) @ self.mask)
    def get_inputs():
        return [torch.rand(6, 40)]
    def get_init_inputs():
        return []
"""


class Reach(TaskCase):
    def test_what_the_reference_refuses_is_drawn_less_far_or_left_out(self):
        loaded = Loaded(self.host, self.write(REFUSES))
        self.assertTrue(loaded.reply["ok"], loaded.reply)
        for case in ("mixed", "edges", "offset", "constant"):
            reply = self.host.call("inputs", seed=5, poison=POISON, case=case)
            self.assertTrue(reply["ok"], reply)
            self.assertEqual(reply["level"], "within")
            values = self.host.call("peek", what="inputs", index=1, count=240)["values"]
            self.assertTrue(0 <= min(values) <= max(values) <= 1)
        reply = self.host.call("inputs", seed=5, poison=POISON, case="nan")
        self.assertTrue(reply["ok"], reply)
        self.assertIn("refused", reply)
        self.assertFalse(self.host.call("compare", poison=POISON)["ok"])
        self.assertTrue(self.host.call("inputs", seed=6, poison=POISON)["ok"])
        self.assertTrue(self.host.call("compare", poison=POISON)["ok"])

    def test_weights_are_as_training_might_have_left_them(self):
        own = Loaded(self.host, self.write(WEIGHTS))
        self.assertEqual(own.reply["varied"], [])
        before = {p["name"]: own.tensor("params", p).reshape(-1).tolist() for p in own.reply["params"]}
        loaded = Loaded(self.host, self.write(WEIGHTS), weights_seed=11)
        after = {p["name"]: loaded.tensor("params", p).reshape(-1).tolist() for p in loaded.reply["params"]}
        self.assertIn("norm.running_var", loaded.reply["varied"])
        self.assertNotIn("mask", loaded.reply["varied"])
        for name in ("norm.weight", "norm.bias", "norm.running_mean", "norm.running_var", "fc.weight"):
            self.assertNotEqual(before[name], after[name], name)
        self.assertEqual(before["mask"], after["mask"])
        self.assertGreater(min(after["norm.running_var"]), 0)
        self.host.call("inputs", seed=6, poison=POISON)
        self.assertLess(self.host.call("compare", poison=POISON)["outputs"][0]["eager"]["nrms"], 1e-5)


SLIGHT = """
    import torch
    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.small, self.far = torch.nn.Parameter(torch.zeros(40)), torch.nn.Parameter(torch.zeros(40))
            self.idle = torch.nn.Parameter(torch.ones(40))
        def forward(self, x):
            return x + 1e-3 * self.small + self.far + 0 * self.idle
    def get_inputs():
        return [torch.rand(6, 40)]
    def get_init_inputs():
        return []
"""


class Seen(TaskCase):
    def test_every_weight_shows_or_is_named(self):
        loaded = Loaded(self.host, self.write(SLIGHT), weights_seed=11)
        self.assertEqual(loaded.reply["unseen"], ["idle"])
        small = max(abs(v) for v in loaded.tensor("params", loaded.reply["params"][0]).tolist())
        self.assertGreater(small, 2)


@unittest.skipUnless(HAVE_TORCH, "needs PyTorch")
class Devices(unittest.TestCase):
    """Inputs are drawn while tensors that name no device are made on a GPU, and a processor's generator serves none of those."""

    def test_who_gives_a_generator_names_its_device(self):
        for path in sorted(pathlib.Path(places.__file__).parent.parent.rglob("*.py")):
            for call in ast.walk(ast.parse(path.read_text())):
                words = [k.arg for k in call.keywords] if isinstance(call, ast.Call) else ()
                if "generator" in words:
                    self.assertIn("device", words, "%s, line %d" % (path, call.lineno))


if __name__ == "__main__":
    unittest.main()
