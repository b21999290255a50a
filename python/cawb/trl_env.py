"""TRL against `cawb serve`: a reward function for `reward_funcs`, and a class for `environment_factory`. The standard
library and the client `cawb` only: TRL imports this, and it imports nothing of TRL."""
import inspect

WORST = -1.0                            # of an episode in which nothing was evaluated: what a failed candidate gets


def text_of(completion):
    """A completion as text: a conversation's last message, or the text itself."""
    if isinstance(completion, str):
        return completion
    return completion[-1].get("content") or "" if completion else ""


def reward(env, decode=None):
    """A function for GRPOTrainer(reward_funcs=...): each completion is scored on the task that the row's column `task`
    names. `decode(text, task)` makes a candidate of a completion, a dictionary; else the text is a model's reply."""
    decode = decode or (lambda text, task: {"text": text})

    def cawb_reward(completions, task, **_):
        items = [{"task": name, "candidate": decode(text_of(one), name)} for one, name in zip(completions, task, strict=True)]
        return [float(item["reward"]) for item in env.score_all(items)]
    return cawb_reward


class Kernels:
    """One episode: a run on the server, driven by tool calls. Its reward is that of the best turn."""

    def __init__(self, env, turns=4):
        self._env, self._turns, self._session, self._best = env, turns, None, WORST

    def reset(self, task=None, **_):
        """The task, the contract and the budget, for the model: TRL adds it to the last message of the user."""
        if self._session:
            self._session.close()
        self._session, self._best = self._env.session(), WORST
        wanted = {"turns": self._turns} if task is None else {"turns": self._turns, "task": task}
        return self._session.reset(**wanted).observation["text"]

    def evaluate(self, kernel: str, plan: str) -> str:
        """Compile, check and time a candidate; this is a turn.

        Args:
            kernel: The text of kernel.cu, CUDA device code.
            plan: The text of plan.lua, which declares the launches.

        Returns:
            What came of it, in words.
        """
        step = self._session.step(source=kernel, plan=plan)
        if step.reward is not None:
            self._best = max(self._best, step.reward)
        return step.observation["text"]

    def get_reward(self):
        """The reward of the best turn."""
        return float(self._best)


def environment(env, turns=4):
    """For GRPOTrainer(environment_factory=...): makes a new episode, of at most so many turns."""
    def make():
        return Kernels(env, turns)
    make.__signature__ = inspect.Signature()
    return make
