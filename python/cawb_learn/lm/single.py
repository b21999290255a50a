"""single: RL of one turn, TRL's GRPO against the judge. A completion is a candidate in the short form; its reward is the server's."""
import glob
import os
import time

import datasets
import torch
import transformers
import trl

from . import corpus, imitation, judge, samples, weights

AT_A_TIME = 32                    # completions that learn at once


def _arguments(out, knobs):
    on_gpu = torch.cuda.is_available()
    batch = knobs["single_tasks"] * knobs["group"]
    each = min(batch, AT_A_TIME)
    return trl.GRPOConfig(
        output_dir=out, max_steps=knobs["single_steps"], learning_rate=knobs["single_rate"], lr_scheduler_type="constant_with_warmup",
        warmup_steps=5, per_device_train_batch_size=each, gradient_accumulation_steps=batch // each // knobs["single_updates"],
        steps_per_generation=batch // each, num_generations=knobs["group"],
        max_completion_length=knobs["tokens"], beta=0.0, epsilon=knobs["clip_low"], epsilon_high=knobs["clip_high"], loss_type="dapo",
        temperature=1.0, mask_truncated_completions=False, bf16=on_gpu, use_cpu=not on_gpu, logging_steps=1, save_steps=min(20, knobs["save_steps"]),
        save_total_limit=1, report_to=[], disable_tqdm=True, seed=knobs["seed"])


def rollout(copy, tokenizer, knobs):
    """Samples of the adapted model, written by a plain copy of it: without adapters a token takes a third of the time."""
    def roll(prompts, trainer):
        weights.fold(copy, trainer.accelerator.unwrap_model(trainer.model))
        asked = [corpus.question(tokenizer, prompt[0]["content"]) for prompt in prompts]
        return {"prompt_ids": asked, "logprobs": None,
                "completion_ids": samples.complete(copy, tokenizer, asked, knobs, 1.0)}
    return roll


def reward(env):
    """The judge's reward of each completion, as a function for `reward_funcs`."""
    def judged(completions, task, **_):
        return [one["reward"] for one in judge.score(env, list(zip(task, (text[-1]["content"] for text in completions), strict=True)))]
    return judged


class Finite(transformers.TrainerCallback):
    """Leaves out a step whose gradient is not finite: all weights would be lost with it. A weight without a gradient stays as it is."""

    def on_pre_optimizer_step(self, _args, state, _control, model=None, **_):
        gradients = [weight.grad for weight in model.parameters() if weight.grad is not None]
        if not torch.nn.utils.get_total_norm(gradients).isfinite():
            print("single: step %d is left out: its gradient is not finite" % (state.global_step + 1), flush=True)
            model.zero_grad()


def learn(model, copy, tokenizer, folder, env, out, knobs, ends=None):
    """Train the adapters of `model` on the tasks to learn on. `copy`: the model without them. Returns whether it came to its end, and the log."""
    rows = [{"prompt": [{"role": "user", "content": task["prompt"]}], "task": task["name"]} for task in corpus.tasks(folder, "train")]
    own = time.monotonic() + knobs["single_seconds"] if knobs["single_seconds"] else None
    trainer = trl.GRPOTrainer(model=model, args=_arguments(out, knobs), train_dataset=datasets.Dataset.from_list(rows), processing_class=tokenizer,
                              reward_funcs=reward(env), rollout_func=rollout(copy, tokenizer, knobs),
                              callbacks=[imitation.Deadline(imitation.earlier(ends, own)), Finite(),
                                         imitation.Told("single", reward="reward", length="completions/mean_length", entropy="entropy")])
    trainer.remove_callback(transformers.PrinterCallback)
    trainer.train(resume_from_checkpoint=bool(glob.glob(os.path.join(out, "checkpoint-*"))))
    done = imitation.came_to_its_end(trainer.state, own)
    if done:
        model.save_pretrained(os.path.join(out, "adapter"))
    return done, trainer.state.log_history
