"""KernelBench's own task files load, shrunk by overrides of their constants.

The tasks are read from CAWB_KERNELBENCH (a dev.jsonl with one task a line),
or from shared/kernelbench/ beside the checkout; without it, this is skipped.
"""
import json
import os
import unittest
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "support"))

from hostcase import ROOT, Loaded, TaskCase

PLACE = os.environ.get("CAWB_KERNELBENCH") or os.path.join(
    os.path.dirname(ROOT), "shared", "kernelbench", "dev.jsonl")

# (level, problem): overrides, and operators that must be in the graph
TASKS = {
    (1, 1): ({"N": 64}, ["mm"]),
    (1, 5): ({"M": 32, "N": 16}, ["mul"]),
    (1, 23): ({"batch_size": 8, "dim": 256}, ["_softmax"]),
    (1, 33): ({"batch_size": 4, "features": 8, "dim1": 6, "dim2": 5}, ["batch_norm"]),
    (1, 41): ({"batch_size": 2, "features": 3, "sequence_length": 200}, ["max_pool"]),
    (1, 47): ({"batch_size": 3, "dim1": 40, "dim2": 31}, ["sum"]),
    (1, 51): ({"batch_size": 3, "dim1": 40, "dim2": 31}, ["argmax"]),
    (1, 57): ({"batch_size": 1, "height": 12, "width": 12}, ["convolution"]),
    (1, 95): ({"batch_size": 16, "num_classes": 10}, ["nll_loss_forward"]),
    (1, 97): ({"batch_size": 1, "num_heads": 2, "sequence_length": 16,
               "embedding_dimension": 32}, ["attention"]),
    (2, 1): ({"batch_size": 2, "in_channels": 4, "out_channels": 8, "height": 10, "width": 10},
             ["convolution", "relu", "add"]),
    (2, 83): ({"batch_size": 2, "depth": 4, "height": 8, "width": 8}, ["convolution", "bernoulli"]),
    (2, 99): ({"batch_size": 8, "in_features": 32, "out_features": 16},
              ["addmm", "gelu", "_softmax"]),
    (3, 1): ({"batch_size": 4, "input_size": 32, "layer_sizes": [16, 16], "output_size": 8},
             ["addmm", "relu"]),
    (3, 33): ({"batch_size": 4, "input_size": 16, "hidden_size": 16, "output_size": 8,
               "sequence_length": 5}, ["cat", "tanh"]),
    (3, 43): ({"batch_size": 2, "max_seqlen": 32, "seq_len": 16, "n_embd": 32, "n_head": 4},
              ["bmm", "_softmax"]),
}


@unittest.skipUnless(os.path.exists(PLACE), "no KernelBench tasks at %s" % PLACE)
class KernelBench(TaskCase):
    def code(self):
        with open(PLACE) as file:
            rows = [json.loads(line) for line in file]
        return {(row["level"], row["problem_id"]): row["code"] for row in rows}

    def check(self, name, code, overrides, operators):
        path = self.write("", name)
        with open(path, "w") as file:
            file.write(code)
        loaded = Loaded(self.host, path, overrides=overrides)
        self.assertTrue(loaded.reply["ok"], loaded.reply.get("message"))
        for key, value in overrides.items():
            self.assertEqual(loaded.reply["task"]["constants"][key], value)
        names = " ".join(e["op"] for e in loaded.reply["graph"])
        for operator in operators:
            self.assertIn(operator, names)
        self.assertTrue(loaded.inputs(11)["ok"])
        reply = loaded.compare()
        self.assertEqual(reply["reference"], "float64")
        for entry in reply["outputs"]:
            self.assertEqual(entry["unwritten"], entry["numel"])
            self.assertFalse((entry["eager"].get("nrms") or 0) > 1e-4, entry)

    def test_tasks_of_all_levels(self):
        code = self.code()
        for key, (overrides, operators) in TASKS.items():
            with self.subTest(task=key):
                self.check("level%d_%d.py" % key, code[key], overrides, operators)


if __name__ == "__main__":
    unittest.main()
