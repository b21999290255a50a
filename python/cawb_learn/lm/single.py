"""single: RL of one turn, TRL's GRPO against the judge. A completion is a candidate in the short form; its reward is the server's."""
import glob
import os

import datasets
import torch
import trl

from cawb import trl_env

from . import corpus, imitation


def _arguments(out, knobs):
    on_gpu = torch.cuda.is_available()
    batch = knobs["single_tasks"] * knobs["group"]
    each = min(batch, 32)
    return trl.GRPOConfig(
        output_dir=out, max_steps=knobs["single_steps"], learning_rate=knobs["single_rate"], lr_scheduler_type="constant_with_warmup",
        warmup_steps=5, per_device_train_batch_size=each, gradient_accumulation_steps=batch // each, num_generations=knobs["group"],
        max_completion_length=knobs["tokens"], beta=0.0, epsilon=knobs["clip_low"], epsilon_high=knobs["clip_high"], loss_type="dapo",
        temperature=1.0, mask_truncated_completions=False, bf16=on_gpu, use_cpu=not on_gpu, logging_steps=1, save_steps=min(20, knobs["save_steps"]),
        save_total_limit=1, report_to=[], disable_tqdm=True, seed=knobs["seed"])


def learn(model, tokenizer, folder, env, out, knobs, ends=None):
    """Train the adapters of `model` on the tasks to learn on. Returns whether it came to its end, and the log."""
    rows = [{"prompt": [{"role": "user", "content": task["prompt"]}], "task": task["name"]} for task in corpus.tasks(folder, "train")]
    trainer = trl.GRPOTrainer(model=model, args=_arguments(out, knobs), train_dataset=datasets.Dataset.from_list(rows), processing_class=tokenizer,
                              reward_funcs=trl_env.reward(env, lambda text, _: {"short": text}), callbacks=[imitation.Deadline(ends)])
    trainer.train(resume_from_checkpoint=bool(glob.glob(os.path.join(out, "checkpoint-*"))))
    done = trainer.state.global_step >= trainer.state.max_steps
    if done:
        model.save_pretrained(os.path.join(out, "adapter"))
    return done, trainer.state.log_history
