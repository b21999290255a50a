"""python/cawb_learn/engines/trl_rollout.py without TRL: what a rollout returns for a model that is made here."""
import os
import sys
import types
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(ROOT, "python"), os.path.join(ROOT, "python/cawb_learn", "engines")]

import torch  # noqa: E402
import trl_rollout  # noqa: E402


class Bytes:
    """A tokenizer whose tokens are bytes; 0 is padding."""
    pad_token_id = 0

    def __call__(self, text):
        return {"input_ids": list(text.encode())}

    def decode(self, ids, skip_special_tokens):
        return bytes(i for i in ids if i or not skip_special_tokens).decode()

    def pad(self, rows, padding_side, return_tensors):
        width = max(map(len, rows["input_ids"]))
        assert (padding_side, return_tensors) == ("left", "pt")
        tensor = torch.tensor([[0] * (width - len(row)) + row for row in rows["input_ids"]])
        return Batch(input_ids=tensor, attention_mask=(tensor != 0).long())


class Batch(dict):
    def to(self, _):
        return self


class Model:
    """Writes "ok", then no more, after a prompt that ends with "!"; "no" after any other. Each is as sure as all others."""
    device = "cpu"

    def generate(self, input_ids, max_new_tokens, **_):
        new = torch.tensor([(list(b"ok") if row[-1] == ord("!") else list(b"no")) + [0] for row in input_ids])[:, :max_new_tokens]
        scores = [torch.zeros(len(input_ids), 256) for _ in range(new.shape[1])]
        return types.SimpleNamespace(sequences=torch.cat([input_ids, new], 1), scores=scores)


TRAINER = types.SimpleNamespace(processing_class=Bytes(), model=Model(), args=types.SimpleNamespace(temperature=1.0),
                                accelerator=types.SimpleNamespace(unwrap_model=lambda model: model))


class Env:
    def __init__(self):
        self.asked = []

    def score_all(self, items):
        self.asked.append(items)
        return [{"ok": item["candidate"]["text"] == "ok", "reward": 1 if item["candidate"]["text"] == "ok" else -1, "stage": "reply",
                 "reason": "why", "speedup": {"compile": {"median": 2.0}}} for item in items]


class Rollout(unittest.TestCase):
    def test_turns_are_judged_together_and_what_is_read_is_masked(self):
        env = Env()
        roll = trl_rollout.rollout(env, lambda prompt: prompt[:1], turns=2, tokens=3, shown=5,
                                   words=lambda item: "right" if item["ok"] else "try!! again")
        got = roll(["a?", "bbb!"], TRAINER)
        self.assertEqual([[item["task"] for item in items] for items in env.asked], [["a", "b"]] * 2)
        self.assertEqual([[item["candidate"]["text"] for item in items] for items in env.asked], [["no", "ok"], ["ok", "no"]])
        self.assertEqual(got["prompt_ids"], [list(b"a?"), list(b"bbb!")])
        self.assertEqual([bytes(ids) for ids in got["completion_ids"]], [b"notry!!ok", b"okrightno"])
        self.assertEqual(got["env_mask"], [[1, 1, 0, 0, 0, 0, 0, 1, 1]] * 2)
        sure = -torch.tensor(256.0).log().item()
        for logprobs, mask in zip(got["logprobs"], got["env_mask"], strict=True):
            self.assertEqual([round(p, 4) for p in logprobs], [round(sure, 4) if own else 0.0 for own in mask])
        self.assertEqual(trl_rollout.reward(**got), [1.0, 1.0])

    def test_what_is_said_of_a_candidate(self):
        self.assertEqual(trl_rollout.said({"ok": False, "stage": "compile", "reason": "no"}), "failed at compile: no\n")
        self.assertEqual(trl_rollout.said({"ok": True, "speedup": {"compile": {"median": 2}}}), "passed, 2.00x against compile\n")


if __name__ == "__main__":
    unittest.main()
