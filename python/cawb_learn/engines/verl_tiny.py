"""verl's PPO against cawb's judge, as small as it can be: a random model and a random critic of 0.1 million parameters on a
processor, GAE, the critic first, two updates of each batch, of which the second can clip, with an upper clip of its own. Prints and writes the curves of explained variance and clip ratio.

    CAWB_PROGRAM=.../bin/cawb python python/cawb_learn/engines/verl_tiny.py [--steps N] [--out DIR]
"""
import argparse
import json
import os
import re
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
sys.path[:0] = [os.path.join(ROOT, "python"), HERE]

import cawb  # noqa: E402
import tiny  # noqa: E402

TASKS = ("softmax", "layernorm")
CURVES = ("critic/score/mean", "critic/vf_explained_var", "actor/pg_clipfrac", "actor/ppo_kl", "actor/entropy",
          "response_length/clip_ratio")
TEMPLATE = "{% for m in messages %}{{ m['content'] }}{% endfor %}"


def data(path):
    import pyarrow
    import pyarrow.parquet
    rows = [{"data_source": "cawb", "prompt": [{"role": "user", "content": task + "?"}], "ability": "kernels",
             "reward_model": {"style": "rule", "ground_truth": task}, "extra_info": {"index": i}}
            for i, task in enumerate(TASKS * 16)]
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), path)


def model(path):
    import torch
    torch.manual_seed(1)
    tokenizer = tiny.tokenizer_of_bytes()
    tokenizer.chat_template = TEMPLATE
    tokenizer.save_pretrained(path)
    tiny.random_model(tokenizer).save_pretrained(path)


def overrides(args, path):
    actor, critic, rollout = "actor_rollout_ref.actor.", "critic.", "actor_rollout_ref.rollout."
    eager = "model.override_config.attn_implementation=eager"
    return ["algorithm.adv_estimator=gae", "algorithm.lam=0.95", "algorithm.use_kl_in_reward=False",
            "data.train_files=%s/rows.parquet" % path, "data.val_files=%s/rows.parquet" % path, "data.train_batch_size=16",
            "data.max_prompt_length=32", "data.max_response_length=2", "data.dataloader_num_workers=0",
            "actor_rollout_ref.model.path=%s/model" % path, "actor_rollout_ref.model.use_remove_padding=False",
            "+actor_rollout_ref." + eager, "actor_rollout_ref.model.enable_gradient_checkpointing=False",
            actor + "optim.lr=5e-3", actor + "ppo_mini_batch_size=8", actor + "ppo_micro_batch_size_per_gpu=16",
            actor + "clip_ratio_low=0.2", actor + "clip_ratio_high=0.28", actor + "strategy=fsdp2", actor + "use_dynamic_bsz=False",
            rollout + "name=hf", rollout + "mode=async", rollout + "n=2", rollout + "tensor_model_parallel_size=1",
            rollout + "log_prob_micro_batch_size_per_gpu=16", rollout + "agent.num_workers=1", rollout + "free_cache_engine=False",
            critic + "strategy=fsdp2", critic + "model.path=%s/model" % path, critic + "model.use_remove_padding=False",
            "+critic." + eager, critic + "model.enable_gradient_checkpointing=False", critic + "optim.lr=1e-2",
            critic + "ppo_mini_batch_size=16", critic + "ppo_micro_batch_size_per_gpu=16",
            "reward.custom_reward_function.path=%s/verl_reward.py" % HERE, "reward.num_workers=1",
            "trainer.critic_warmup=2", "trainer.total_training_steps=%d" % args.steps, "trainer.total_epochs=1000",
            "trainer.n_gpus_per_node=1", "trainer.nnodes=1", "trainer.logger=[console]", "trainer.save_freq=-1", "trainer.test_freq=-1",
            "trainer.val_before_train=False", "trainer.resume_mode=disable", "trainer.default_local_dir=%s/state" % path,
            "ray_kwargs.ray_init.num_cpus=24", "+ray_kwargs.ray_init.num_gpus=1", "+ray_kwargs.ray_init.include_dashboard=False",
            "transfer_queue.backend.SimpleStorage.num_data_storage_units=1"] + args.more


def environment(env, path):
    return dict(os.environ, CAWB_URL=env.url, CAWB_MENUS=path + "/menus.json", PYTHONPATH=HERE + ":" + os.path.join(ROOT, "python"),
                VERL_USE_EXTERNAL_MODULES="verl_cpu", VERL_PLATFORM="cpu", VERL_ENGINE_DEVICE="cuda", VERL_ENGINE_VENDOR="nvidia",
                HF_HUB_OFFLINE="1", TOKENIZERS_PARALLELISM="false", RAY_AUTH_MODE="disabled", HYDRA_FULL_ERROR="1")


def run(args, env, path):
    """The values of each step, as verl prints them."""
    rows = []
    with open(path + "/verl.log", "w", encoding="utf-8") as log:
        process = subprocess.Popen([sys.executable, "-m", "verl.trainer.main_ppo", *overrides(args, path)], env=environment(env, path),
                                   cwd=path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        for line in process.stdout:
            log.write(line)
            log.flush()
            if re.search(r"step:\d+ - ", line):
                rows.append({key: float(value) for key, value in re.findall(r"([\w/]+):(?:np\.\w+\()?(-?[\d.]+(?:e[+-]?\d+)?)", line)})
        status = process.wait()
    if status != 0 or not rows:
        raise SystemExit("verl ended with status %d; see %s/verl.log" % (status, path))
    return rows


def shown(value, width):
    return "-".rjust(width) if value is None else "%*.3f" % (width, value)


def main():
    parser = argparse.ArgumentParser(description="verl's PPO against cawb serve, on a processor")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--out", default="cawb-runs")
    parser.add_argument("more", nargs="*", help="further settings of verl")
    args = parser.parse_args()
    path = os.path.abspath(os.path.join(args.out, "verl"))
    os.makedirs(path, exist_ok=True)
    data(path + "/rows.parquet")
    model(path + "/model")
    with open(path + "/menus.json", "w", encoding="utf-8") as file:
        json.dump(tiny.menus(TASKS), file)
    small, began = {"task.rows": 32, "task.cols": 512, "sweep.variants": 1}, time.monotonic()
    print("verl's PPO against cawb serve on sim:h100 (modelled times), on a processor: %s\n" % tiny.machine("verl", "torch", "ray"), flush=True)
    with cawb.serve(*[os.path.join(ROOT, "examples", task + ".py") for task in TASKS], device="sim:h100", out=args.out, options=small,
                    config=os.path.join(HERE, "reward-share.lua"), flags=("--places", "1")) as env:
        rows = run(args, env, path)
    print("%4s  %s" % ("step", "  ".join(CURVES)))
    for row in rows:
        print("%4d  %s" % (row["step"], "  ".join(shown(row.get(name), len(name)) for name in CURVES)))
    print("%d steps, %.0f s" % (len(rows), time.monotonic() - began))


if __name__ == "__main__":
    main()
