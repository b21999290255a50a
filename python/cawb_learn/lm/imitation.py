"""imitation: a model learns texts, by transformers' Trainer with adapters of peft. It goes on from its last checkpoint, and may be told to end."""
import glob
import math
import os
import time

import torch
import transformers


class Deadline(transformers.TrainerCallback):
    """Saves and ends when the time is up."""

    def __init__(self, ends):
        self.ends = ends

    def on_step_end(self, _args, state, control, **_):
        if self.ends and time.monotonic() > self.ends and state.global_step < state.max_steps:
            control.should_save = control.should_training_stop = True


def line(stage, step, steps, numbers):
    """A step in a line, of the numbers that one looks at."""
    return "%s %d of %d: %s" % (stage, step, steps, "  ".join("%s %.3f" % pair for pair in numbers.items()))


class Told(transformers.TrainerCallback):
    """Prints some numbers of the log, in place of all."""

    def __init__(self, stage, **names):
        self.stage, self.names = stage, names

    def on_log(self, _args, state, _control, logs=None, **_):
        found = {shown: logs[name] for shown, name in self.names.items() if (logs or {}).get(name) is not None}
        if found:
            print(line(self.stage, state.global_step, state.max_steps, found), flush=True)


def earlier(*times):
    """The first of several times, of which each may be None."""
    return min((one for one in times if one), default=None)


def came_to_its_end(state, ends):
    """Whether all steps were done, or all seconds that the stage has."""
    return state.global_step >= state.max_steps or bool(ends) and time.monotonic() > ends


class Timed(transformers.Trainer):
    """A trainer whose rate is 0 after the last step, or after so many seconds if they end earlier."""

    seconds = None

    def create_scheduler(self, num_training_steps, optimizer=None):
        if self.lr_scheduler is None:
            from_, warm = time.monotonic(), max(1, self.args.get_warmup_steps(num_training_steps))

            def part(step):
                done = max(step / num_training_steps, (time.monotonic() - from_) / self.seconds if self.seconds else 0.0)
                return min(1.0, (step + 1) / warm) * 0.5 * (1 + math.cos(math.pi * min(1.0, done)))
            self.lr_scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer or self.optimizer, part)
        return self.lr_scheduler


def _collate(pad):
    def collate(rows):
        most = max(len(row["input_ids"]) for row in rows)
        def wide(name, fill):
            return torch.tensor([row[name] + [fill] * (most - len(row[name])) for row in rows])
        ids = wide("input_ids", pad)
        mask = torch.tensor([[1] * len(row["input_ids"]) + [0] * (most - len(row["input_ids"])) for row in rows])
        return {"input_ids": ids, "attention_mask": mask, "labels": wide("labels", -100)}
    return collate


def _arguments(out, knobs, epochs, rate, count, checked):
    on_gpu = torch.cuda.is_available()
    batch = min(knobs["at_a_time"], knobs["imitation_batch"])
    steps = -(-count // knobs["imitation_batch"]) * epochs
    return transformers.TrainingArguments(
        output_dir=out, num_train_epochs=epochs, learning_rate=rate, lr_scheduler_type="cosine", warmup_steps=int(knobs["warmup"] * steps),
        per_device_train_batch_size=batch, gradient_accumulation_steps=max(1, knobs["imitation_batch"] // batch), weight_decay=0.0,
        max_grad_norm=1.0, bf16=on_gpu, use_cpu=not on_gpu, logging_steps=10, save_steps=knobs["save_steps"], save_total_limit=1,
        train_sampling_strategy="group_by_length", length_column_name="length", remove_unused_columns=False, report_to=[], disable_tqdm=True,
        eval_strategy="epoch" if checked else "no", per_device_eval_batch_size=batch, prediction_loss_only=True,
        seed=knobs["seed"], data_seed=knobs["seed"], dataloader_num_workers=0)


class Rows(torch.utils.data.Dataset):
    """A list, as a trainer wants it."""

    def __init__(self, rows):
        self.rows = rows

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return {name: self.rows[i][name] for name in ("input_ids", "labels", "length")}


def learn(model, tokenizer, rows, out, knobs, epochs, rate, ends=None, seconds=None, checked=()):
    """Learn rows into the adapters of `model`, and save them in `out`/adapter; within `seconds`, if they are given. The log has the loss on
    rows that are not learnt, `checked`, after each epoch and at the end. Returns whether it came to its end before the time `ends`, and the log."""
    own = time.monotonic() + seconds if seconds else None
    trainer = Timed(model=model, args=_arguments(out, knobs, epochs, rate, len(rows), checked), train_dataset=Rows(rows),
                    eval_dataset=Rows(checked) if checked else None, data_collator=_collate(tokenizer.pad_token_id),
                    callbacks=[Deadline(earlier(ends, own)), Told(os.path.basename(out), loss="loss", rate="learning_rate", held_out="eval_loss")])
    trainer.seconds = seconds
    trainer.remove_callback(transformers.PrinterCallback)
    trainer.train(resume_from_checkpoint=bool(glob.glob(os.path.join(out, "checkpoint-*"))))
    done = came_to_its_end(trainer.state, own)
    if done:
        model.save_pretrained(os.path.join(out, "adapter"))
        if checked and not any("eval_loss" in row and row["step"] == trainer.state.global_step for row in trainer.state.log_history):
            trainer.evaluate()
    return done, trainer.state.log_history
