"""What tests of python/cawb_learn/ share: a task's decisions, a judge that is a function, a small model."""
import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(ROOT, "python/cawb_learn"), os.path.join(ROOT, "bench/learn")]

import knobs  # noqa: E402
import lang  # noqa: E402

DECISIONS = [{"kind": "cut", "what": "1.1|2.1", "values": ["joined", "cut"]},
          {"kind": "knob", "kernel": "2.1", "by": "rows", "name": "vector", "values": ["auto", 1, 2, 4], "size": 4096, "row": 64},
          {"kind": "knob", "kernel": "2.1", "by": "rows", "name": "hold", "values": ["auto", False], "size": 4096, "row": 64}]


class Judge:
    """In place of a server: wrong without `hold`, faster with wide vectors and without a cut."""

    asked = evaluated = 0

    def decisions(self, name):
        return DECISIONS

    def default(self, _):
        return self.one(lang.default(DECISIONS))

    def score(self, pairs):
        self.asked += len(pairs)
        return [self.one(program) for _, program in pairs]

    def one(self, program):
        if lang.schedule(DECISIONS, program) is None:
            return {"ok": False, "stage": "reply", "reason": "unreadable"}
        if program[2] is False:
            return {"ok": False, "stage": "verify", "reason": "stray"}
        gain = (2.0 if program[0] == "joined" else 1.0) * (program[1] if isinstance(program[1], int) else 1) / 3
        return {"ok": True, "stage": "pass", "seconds": 1e-5 / gain, "eager": gain, "compile": gain, "limit": "memory"}


def close(a, b, most=1e-6):
    assert abs(a - b) <= most * max(1.0, abs(b)), (a, b)


def small(**changes):
    return knobs.of(**dict(dict(knobs.TINY, fail_cost=0.1, layers=1, width=16, heads=1, length=96), **changes))


def run(tests):
    """Runs the tests among a script's names."""
    for name, one in list(tests.items()):
        if name.startswith("test_") and callable(one):
            one()
            print("ok  ", name)
