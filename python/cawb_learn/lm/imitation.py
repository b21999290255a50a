"""imitation: a model learns texts, by transformers' Trainer with adapters of peft. It goes on from its last checkpoint, and may be told to end."""
import glob
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


def _collate(pad):
    def collate(rows):
        most = max(len(row["input_ids"]) for row in rows)
        def wide(name, fill):
            return torch.tensor([row[name] + [fill] * (most - len(row[name])) for row in rows])
        ids = wide("input_ids", pad)
        mask = torch.tensor([[1] * len(row["input_ids"]) + [0] * (most - len(row["input_ids"])) for row in rows])
        return {"input_ids": ids, "attention_mask": mask, "labels": wide("labels", -100)}
    return collate


def _arguments(out, knobs, epochs, rate, count):
    on_gpu = torch.cuda.is_available()
    batch = min(knobs["at_a_time"], knobs["imitation_batch"])
    steps = -(-count // knobs["imitation_batch"]) * epochs
    return transformers.TrainingArguments(
        output_dir=out, num_train_epochs=epochs, learning_rate=rate, lr_scheduler_type="cosine", warmup_steps=int(knobs["warmup"] * steps),
        per_device_train_batch_size=batch, gradient_accumulation_steps=max(1, knobs["imitation_batch"] // batch), weight_decay=0.0,
        max_grad_norm=1.0, bf16=on_gpu, use_cpu=not on_gpu, logging_steps=10, save_steps=knobs["save_steps"], save_total_limit=1,
        train_sampling_strategy="group_by_length", length_column_name="length", remove_unused_columns=False, report_to=[], disable_tqdm=True,
        seed=knobs["seed"], data_seed=knobs["seed"], dataloader_num_workers=0)


class Rows(torch.utils.data.Dataset):
    """A list, as a trainer wants it."""

    def __init__(self, rows):
        self.rows = rows

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return {name: self.rows[i][name] for name in ("input_ids", "labels", "length")}


def learn(model, tokenizer, rows, out, knobs, epochs, rate, ends=None):
    """Learn rows into the adapters of `model`, and save them in `out`/adapter. Returns whether it came to its end, and the log."""
    trainer = transformers.Trainer(model=model, args=_arguments(out, knobs, epochs, rate, len(rows)), train_dataset=Rows(rows),
                                   data_collator=_collate(tokenizer.pad_token_id), callbacks=[Deadline(ends)])
    trainer.remove_callback(transformers.PrinterCallback)
    trainer.train(resume_from_checkpoint=bool(glob.glob(os.path.join(out, "checkpoint-*"))))
    done = trainer.state.global_step >= trainer.state.max_steps
    if done:
        model.save_pretrained(os.path.join(out, "adapter"))
    return done, trainer.state.log_history
