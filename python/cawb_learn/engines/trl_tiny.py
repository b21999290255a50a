"""A training run that is as small as one can be and still real: TRL's GRPO, a random model of 0.1 million parameters, a
tokenizer of bytes made here, and cawb's judge. The model learns which of four kernels is the best one for each of two
operators; it is told nothing but rewards.

    CAWB_PROGRAM=.../bin/cawb python python/cawb_learn/engines/trl_tiny.py [--steps N] [--out DIR] [--rollout]

With --rollout it has two turns at each, by TRL's `rollout_func`, and reads a word about the first before the second.

Prints the mean reward of every fifth step, over all and of each operator, and exits with 1 where it has not risen.
"""
import argparse
import functools
import json
import os
import sys
import time
import warnings

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
sys.path[:0] = [os.path.join(ROOT, "python"), HERE]
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
os.environ.setdefault("HF_HUB_OFFLINE", "1")
warnings.filterwarnings("ignore", category=FutureWarning)      # of transformers about itself

import datasets  # noqa: E402
import torch  # noqa: E402
import transformers  # noqa: E402
import trl  # noqa: E402

import cawb  # noqa: E402
import tiny  # noqa: E402
from cawb import trl_env  # noqa: E402
import trl_rollout  # noqa: E402

TASKS = ("softmax", "layernorm")


def arguments(args):
    return trl.GRPOConfig(output_dir=os.path.join(args.out, "trl"), max_steps=args.steps, per_device_train_batch_size=32,
                          num_generations=16, max_completion_length=1, learning_rate=5e-3, lr_scheduler_type="constant", beta=0.0,
                          epsilon_high=0.28, loss_type="dapo", temperature=1.0, logging_steps=1, save_strategy="no",
                          report_to=[], use_cpu=True, bf16=False, disable_tqdm=True, seed=args.seed)


def watched(function, curves):
    """The same function of rewards; the means of each task are added to its curve, None in a step without it."""
    @functools.wraps(function)
    def rewards_of(task, **more):
        rewards = function(task=task, **more)
        for name, curve in curves.items():
            mine = [reward for reward, other in zip(rewards, task, strict=True) if other == name]
            curve.append(sum(mine) / len(mine) if mine else None)
        return rewards
    return rewards_of


def train(args, env):
    """The mean rewards of all steps, and those of each task by its name."""
    torch.manual_seed(args.seed)
    all_of = tiny.menus(TASKS)
    tokenizer = tiny.tokenizer_of_bytes()

    def decode(text, task):                # the first byte chooses
        menu = all_of[task]
        return menu[(text.encode() or b"\0")[0] % len(menu)]

    ways = {"reward_funcs": trl_env.reward(env, decode)}
    if args.rollout:
        ways = {"reward_funcs": trl_rollout.reward,
                "rollout_func": trl_rollout.rollout(env, lambda prompt: prompt[:-1], decode, tokens=1, shown=4)}
    curves = {task: [] for task in TASKS}
    ways["reward_funcs"] = watched(ways["reward_funcs"], curves)
    rows = [{"prompt": task + "?", "task": task} for task in all_of] * 8
    trainer = trl.GRPOTrainer(model=tiny.random_model(tokenizer), args=arguments(args), train_dataset=datasets.Dataset.from_list(rows),
                              processing_class=tokenizer, **ways)
    trainer.remove_callback(transformers.PrinterCallback)          # the rewards are printed below
    trainer.train()
    return [row["reward"] for row in trainer.state.log_history if "reward" in row], curves


def mean(values):
    known = [value for value in values if value is not None]
    return "%5.2f" % (sum(known) / len(known)) if known else "    -"


def report(rewards, curves, seconds, args):
    for i in range(0, len(rewards), 5):
        part = rewards[i:i + 5]
        each = ", ".join("%s %s" % (task, mean(curve[i:i + 5])) for task, curve in curves.items())
        print("steps %3d to %3d: mean reward %s  (%s)" % (i + 1, i + len(part), mean(part), each))
    few = max(1, len(rewards) // 5)
    first, last = sum(rewards[:few]) / few, sum(rewards[-few:]) / few
    print("reward %.2f -> %.2f in %d steps, %.0f s" % (first, last, len(rewards), seconds))
    with open(os.path.join(args.out, "rewards.json"), "w", encoding="utf-8") as file:
        json.dump({"rewards": rewards, "of": curves, "seconds": seconds}, file)
    bar = 0.1 if args.rollout else 0.3      # the better of two is good from the start
    if last > first + bar:
        return 0
    print("the reward rose by %.2f, which is not above the bar of %.1f: the way works, the policy did not learn enough; try more --steps"
          % (last - first, bar))
    return 1


def main():
    parser = argparse.ArgumentParser(description="a tiny training run against cawb serve")
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--rollout", action="store_true", help="two turns, by rollout_func")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", default="cawb-runs")
    parser.add_argument("--device", default="sim:h100")
    args = parser.parse_args()
    os.makedirs(args.out, exist_ok=True)
    tasks = [os.path.join(ROOT, "examples", task + ".py") for task in TASKS]
    began = time.monotonic()
    how = "rollout_func, two turns" if args.rollout else "reward_funcs"
    print("TRL's GRPO (%s) against cawb serve on %s: %s\n" % (how, args.device, tiny.machine("trl", "torch", "transformers")), flush=True)
    small = {"task.rows": 32, "task.cols": 512, "sweep.variants": 1}
    with cawb.serve(*tasks, device=args.device, out=args.out, options=small, config=os.path.join(HERE, "reward-share.lua"),
                    flags=("--places", "1")) as env:
        rewards, curves = train(args, env)
    return report(rewards, curves, time.monotonic() - began, args)


if __name__ == "__main__":
    sys.exit(main())
