"""A training run that is as small as one can be and still real: TRL's GRPO, a random model of 0.1 million parameters, a
tokenizer of bytes made here, and cawb's judge. The model learns which of four kernels is the best one for each of two
operators; it is told nothing but rewards.

    CAWB_PROGRAM=.../bin/cawb python train/engines/trl_tiny.py [--steps N] [--out DIR]

Prints the mean reward of every fifth step, and exits with 1 where it has not risen.
"""
import argparse
import json
import os
import sys
import time
import warnings

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [os.path.join(ROOT, "python"), HERE]
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
os.environ.setdefault("HF_HUB_OFFLINE", "1")
warnings.filterwarnings("ignore", category=FutureWarning)      # of transformers about itself

import datasets  # noqa: E402
import tokenizers  # noqa: E402
import torch  # noqa: E402
import transformers  # noqa: E402
import trl  # noqa: E402

import cawb  # noqa: E402
import trl_env  # noqa: E402

TASKS = ("softmax", "layernorm")


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def rungs(task):
    """The names of a family's rungs, slowest first."""
    return sorted(name[:-3] for name in os.listdir(os.path.join(ROOT, "kernels", task)) if name.endswith(".cu"))


def menus(tasks):
    """Four candidates for each task: one that does not build, one whose plan is wrong, the first rung and the third."""
    all_of = {}
    for task in tasks:
        names = rungs(task)
        first, third = ({"source": read("kernels/%s/%s.cu" % (task, name)), "plan": read("kernels/%s/%s.lua" % (task, name))}
                       for name in (names[0], names[2]))
        all_of[task] = [dict(first, source="no kernel"), dict(first, plan="no plan"), first, third]
    return all_of


def tokenizer_of_bytes():
    """256 bytes and two marks: nothing is fetched, and any text can be written."""
    alphabet = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    marks = ["<pad>", "<eos>"]
    vocabulary = {symbol: i for i, symbol in enumerate(marks + alphabet)}
    model = tokenizers.Tokenizer(tokenizers.models.BPE(vocab=vocabulary, merges=[]))
    model.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    model.decoder = tokenizers.decoders.ByteLevel()
    return transformers.PreTrainedTokenizerFast(tokenizer_object=model, pad_token="<pad>", eos_token="<eos>", padding_side="left")


def random_model(tokenizer):
    config = transformers.Qwen2Config(vocab_size=len(tokenizer), hidden_size=64, intermediate_size=128, num_hidden_layers=2,
                                      num_attention_heads=2, num_key_value_heads=2, max_position_embeddings=64,
                                      pad_token_id=tokenizer.pad_token_id, eos_token_id=tokenizer.eos_token_id)
    return transformers.Qwen2ForCausalLM(config)


def arguments(args):
    return trl.GRPOConfig(output_dir=os.path.join(args.out, "trl"), max_steps=args.steps, per_device_train_batch_size=32,
                          num_generations=16, max_completion_length=1, learning_rate=5e-3, lr_scheduler_type="constant", beta=0.0,
                          epsilon_high=0.28, loss_type="dapo", temperature=1.0, logging_steps=1, save_strategy="no",
                          report_to=[], use_cpu=True, bf16=False, disable_tqdm=True, seed=args.seed)


def train(args, env):
    """The mean rewards of all steps."""
    torch.manual_seed(args.seed)
    all_of = menus(TASKS)
    tokenizer = tokenizer_of_bytes()

    def decode(text, task):                # the first byte chooses
        menu = all_of[task]
        return menu[(text.encode() or b"\0")[0] % len(menu)]

    rows = [{"prompt": task + "?", "task": task} for task in all_of] * 8
    trainer = trl.GRPOTrainer(model=random_model(tokenizer), args=arguments(args), train_dataset=datasets.Dataset.from_list(rows),
                              processing_class=tokenizer, reward_funcs=trl_env.reward(env, decode))
    trainer.remove_callback(transformers.PrinterCallback)          # the rewards are printed below
    trainer.train()
    return [row["reward"] for row in trainer.state.log_history if "reward" in row]


def report(rewards, seconds, args):
    for i in range(0, len(rewards), 5):
        part = rewards[i:i + 5]
        print("steps %3d to %3d: mean reward %5.2f" % (i + 1, i + len(part), sum(part) / len(part)))
    few = max(1, len(rewards) // 5)
    first, last = sum(rewards[:few]) / few, sum(rewards[-few:]) / few
    print("reward %.2f -> %.2f in %d steps, %.0f s" % (first, last, len(rewards), seconds))
    with open(os.path.join(args.out, "rewards.json"), "w", encoding="utf-8") as file:
        json.dump({"rewards": rewards, "seconds": seconds}, file)
    return 0 if last > first + 0.3 else 1


def main():
    parser = argparse.ArgumentParser(description="a tiny training run against cawb serve")
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", default="cawb-runs")
    parser.add_argument("--device", default="sim:h100")
    args = parser.parse_args()
    os.makedirs(args.out, exist_ok=True)
    tasks = [os.path.join(ROOT, "examples", task + ".py") for task in TASKS]
    began = time.monotonic()
    small = {"task.rows": 32, "task.cols": 512, "sweep.variants": 1}
    with cawb.serve(*tasks, device=args.device, out=args.out, options=small, config=os.path.join(HERE, "reward-share.lua"),
                    flags=("--places", "1")) as env:
        rewards = train(args, env)
    return report(rewards, time.monotonic() - began, args)


if __name__ == "__main__":
    sys.exit(main())
