"""documented.py OUT: the first script of docs/howto/train.md as it stands, with a random model of bytes in place of the one that has to be
fetched, one step, and a processor."""
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
sys.path[:0] = [os.path.join(ROOT, folder) for folder in ("python", "python/cawb_learn/engines")]
os.environ["HF_HUB_OFFLINE"] = "1"

import tiny  # noqa: E402

with open(os.path.join(ROOT, "docs/howto/train.md"), encoding="utf-8") as file:
    script = re.search(r"<!-- file: one_turn\.py -->\n```python\n(.*?)```", file.read(), re.S).group(1)
os.chdir(sys.argv[1])
tokenizer = tiny.tokenizer_of_bytes()
tokenizer.save_pretrained("random")
tiny.random_model(tokenizer).save_pretrained("random")
for there, here in (('"Qwen/Qwen2.5-0.5B-Instruct"', '"random"'), ("max_steps=100", "max_steps=1, use_cpu=True, bf16=False, save_strategy='no'"),
                    ("per_device_train_batch_size=8, num_generations=8", "per_device_train_batch_size=2, num_generations=2"),
                    ("max_completion_length=2048", "max_completion_length=4")):
    assert there in script, there
    script = script.replace(there, here)
names = {"__name__": "one_turn"}
exec(compile(script, "one_turn.py", "exec"), names)
logged = names["trainer"].state.log_history
assert any("reward" in row for row in logged), logged
print("the script of docs/howto/train.md: one step, reward", [row["reward"] for row in logged if "reward" in row][0])
