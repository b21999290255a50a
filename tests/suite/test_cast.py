"""bench/compose/cast.py: weights and inputs are of 16 bits wherever a task names their type, and every N-th sound task is drawn."""
import contextlib
import importlib.util
import io
import json
import pathlib
import tempfile
import unittest
import unittest.mock

import torch

ROOT = pathlib.Path(__file__).resolve().parents[2]
spec = importlib.util.spec_from_file_location("cast", ROOT / "bench" / "compose" / "cast.py")
cast = importlib.util.module_from_spec(spec)
spec.loader.exec_module(cast)

TASK = """import torch
STATE = {"w": ([8, 8], torch.float32)}
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        for name, (shape, dtype) in STATE.items():
            self.register_parameter(name, torch.nn.Parameter(torch.randn(shape, dtype=dtype)))
    def forward(self, x):
        return %s
def get_inputs():
    return [%s]
def get_init_inputs():
    return []
"""
FLOATS, WHOLE = "torch.randn(4, 8)", "torch.arange(8)"


def run(code):
    space = {"__name__": "task"}
    exec(compile(code, "task", "exec"), space)             # pylint: disable=exec-used
    model, inputs = space["Model"](), space["get_inputs"]()
    return model.w.dtype, inputs[0].dtype, model(*inputs).dtype


class Cast(unittest.TestCase):
    def types(self, forward, inputs):
        made, why = cast.cast({"name": "one", "code": TASK % (forward, inputs)}, "bfloat16")
        self.assertIsNone(why)
        return run(made["code"])

    def test_types_in_tables_are_cast(self):
        self.assertEqual(self.types("x @ self.w", FLOATS), (torch.bfloat16, torch.bfloat16, torch.bfloat16))

    def test_a_task_of_whole_inputs_has_weights_of_the_type(self):
        self.assertEqual(self.types("self.w[x]", WHOLE), (torch.bfloat16, torch.int64, torch.bfloat16))

    def test_a_part_in_float32_stays_one_where_it_runs(self):
        self.assertEqual(self.types("x.to(torch.float32).square()", FLOATS)[2], torch.float32)
        self.assertEqual(self.types("x.to(torch.float32).square() @ self.w", FLOATS)[2], torch.bfloat16)

    def test_masks_are_filled_with_the_lowest_number_of_the_type(self):
        forward = "x.to(torch.float32).masked_fill(x > 0, -3.4028234663852886e+38) @ self.w"
        self.assertIn("-3.3895313892515355e+38", cast.cast({"name": "one", "code": TASK % (forward, FLOATS)}, "bfloat16")[0]["code"])

    def test_every_second_sound_task_is_drawn(self):
        tasks = [("a", "x @ self.w"), ("unsound", "x @ x"), ("b", "x @ self.w"), ("c", "x @ self.w")]
        with tempfile.NamedTemporaryFile("w+", suffix=".jsonl") as suite, contextlib.redirect_stdout(io.StringIO()) as out:
            for name, forward in tasks:
                suite.write(json.dumps({"level": 1, "problem_id": 1, "name": name, "code": TASK % (forward, FLOATS)}) + "\n")
            suite.flush()
            with unittest.mock.patch("sys.argv", ["cast.py", suite.name, "--every", "2"]), contextlib.redirect_stderr(io.StringIO()):
                cast.main()
        self.assertEqual([json.loads(line)["name"] for line in out.getvalue().splitlines()], ["a_bf16", "c_bf16"])


if __name__ == "__main__":
    unittest.main()
