"""What trl_tiny.py says where the reward did not rise enough: a sentence and status 1, and neither where it did."""
import contextlib
import io
import os
import sys
import tempfile
import types

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "python", "cawb_learn", "engines"))
import trl_tiny                               # noqa: E402  pylint: disable=wrong-import-position


def told(rewards):
    said = io.StringIO()
    with tempfile.TemporaryDirectory() as out, contextlib.redirect_stdout(said):
        status = trl_tiny.report(rewards, {}, 1.0, types.SimpleNamespace(rollout=False, out=out))
    return status, said.getvalue()


flat, risen = told([1.0] * 10), told([0.5] * 5 + [1.5] * 5)
assert flat[0] == 1 and "not above the bar" in flat[1] and "--steps" in flat[1], flat
assert risen[0] == 0 and "bar" not in risen[1], risen
print("the bar of trl_tiny.py: ok")
