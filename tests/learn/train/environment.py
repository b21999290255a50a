"""environment.py OUT: python/cawb/trl_env.py as TRL's GRPOTrainer takes an environment: its tools become JSON schemas, an
episode is reset, driven and rewarded."""
import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
sys.path[:0] = [os.path.join(ROOT, folder) for folder in ("python", "python/cawb_learn/engines", "tests/support")]

from transformers.utils import get_json_schema  # noqa: E402

import cawb  # noqa: E402
from cawb import trl_env  # noqa: E402
from serving import rung  # noqa: E402

RIGHT = rung("v1_thread_per_row")
with cawb.serve(os.path.join(ROOT, "examples/softmax.py"), device="sim:h100", out=sys.argv[1],
                options={"task.rows": 8, "task.cols": 64, "sweep.variants": 1, "confirm.enabled": False}, flags=("--places", "1")) as env:
    one = trl_env.environment(env, turns=2)()
    tools = [getattr(one, name) for name in dir(one) if not name.startswith("_") and name not in ("reset", "get_reward")]
    schemas = [get_json_schema(tool)["function"] for tool in tools]
    assert [schema["name"] for schema in schemas] == ["evaluate"], schemas
    assert sorted(schemas[0]["parameters"]["properties"]) == ["kernel", "plan"], schemas
    assert "torch.softmax" in one.reset(prompt="...", task="softmax") and one.get_reward() == -1
    assert "FAILED" in one.evaluate("no kernel", RIGHT["plan"]) and one.get_reward() == -1
    assert "PASS" in one.evaluate(RIGHT["source"], RIGHT["plan"]) and one.get_reward() >= 1
    assert "has ended" in one.evaluate(RIGHT["source"] + "//", RIGHT["plan"]) and one.get_reward() >= 1
    one.reset(task="softmax")
    assert one.get_reward() == -1
print("TRL's environment: schemas, an episode, its reward")
