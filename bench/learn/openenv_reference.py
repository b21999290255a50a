"""openenv_reference.py PORT: OpenEnv's own server (openenv-core, fastapi, uvicorn) with an environment that does nothing, to
hold `cawb serve` against. bench/learn/serve.py --reference PYTHON runs it with a Python that has openenv-core."""
import sys

import uvicorn
from openenv.core import Action, Environment, Observation, State, create_fastapi_app


class Nothing(Environment):
    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self):
        super().__init__()
        self.count = 0

    def reset(self, seed=None, episode_id=None, **_):
        self.count = 0
        return Observation(done=False, reward=None)

    def step(self, action, timeout_s=None, **_):
        self.count += 1
        return Observation(done=False, reward=1.0)

    @property
    def state(self):
        return State(episode_id="e", step_count=self.count)


app = create_fastapi_app(Nothing, Action, Observation, max_concurrent_envs=200)
uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="error", access_log=False)
