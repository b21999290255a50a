"""samples: answers that a model writes, many at once, by `generate` of transformers. Keys and values have their place ahead: a cache that grows is
copied at each token (bench/results/learn/lm_h200.txt)."""
import contextlib

import torch

from . import corpus, steps


def complete(model, tokenizer, rows, knobs, temperature):
    """What the model writes behind each list of tokens: lists of at most `tokens`, with the mark of the end if it was reached."""
    end, written = tokenizer.convert_tokens_to_ids("<|im_end|>"), []
    for first in range(0, len(rows), knobs["at_once"]):
        batch = tokenizer.pad({"input_ids": rows[first:first + knobs["at_once"]]}, padding_side="left", return_tensors="pt").to(model.device)
        with torch.no_grad(), steps.graphed(model) if knobs["graphs"] and torch.cuda.is_available() else contextlib.nullcontext():
            out = model.generate(**batch, max_new_tokens=knobs["tokens"], do_sample=temperature > 0, temperature=temperature or None, top_k=0, top_p=1.0,
                                 cache_implementation="static", disable_compile=True)
        written += out[:, batch["input_ids"].shape[1]:].tolist()
    return [new[:new.index(end) + 1] if end in new else new for new in written]


def write(model, tokenizer, prompts, knobs, seed=0):
    """For each prompt `samples` answers."""
    torch.manual_seed(seed)
    model.eval()
    asked = [corpus.question(tokenizer, prompt) for prompt in prompts for _ in range(knobs["samples"])]
    texts = [tokenizer.decode(ids, skip_special_tokens=True) for ids in complete(model, tokenizer, asked, knobs, knobs["temperature"])]
    return [texts[first:first + knobs["samples"]] for first in range(0, len(texts), knobs["samples"])]
