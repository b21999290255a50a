"""samples: answers that a model writes, many at once."""
import torch

from . import corpus


def _batch(model, tokenizer, asked, knobs):
    batch = tokenizer.pad({"input_ids": asked}, return_tensors="pt").to(model.device)
    with torch.no_grad():
        out = model.generate(**batch, max_new_tokens=knobs["tokens"], do_sample=knobs["temperature"] > 0, temperature=knobs["temperature"] or None,
                             top_k=0, top_p=1.0)
    return [tokenizer.decode(row, skip_special_tokens=True) for row in out[:, batch["input_ids"].shape[1]:]]


def write(model, tokenizer, prompts, knobs, seed=0):
    """For each prompt `samples` answers. Prompts of about the same length are asked together."""
    torch.manual_seed(seed)
    model.eval()
    if model.device.type == "cuda":
        model.to(torch.bfloat16)
    order = sorted(range(len(prompts)), key=lambda i: len(prompts[i]))
    asked = [(i, corpus.question(tokenizer, prompts[i])) for i in order for _ in range(knobs["samples"])]
    answers = [[] for _ in prompts]
    for first in range(0, len(asked), knobs["at_once"]):
        part = asked[first:first + knobs["at_once"]]
        for (i, _), text in zip(part, _batch(model, tokenizer, [ids for _, ids in part], knobs), strict=True):
            answers[i].append(text)
    return answers
