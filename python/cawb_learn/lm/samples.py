"""samples: answers that a model writes, many at once. An answer that has ended leaves the batch after a round, and the next one takes its place."""
import torch

from . import corpus

ROUND = 192                       # tokens that all of a batch write ahead of this


def _round(model, tokenizer, rows, tokens, temperature):
    batch = tokenizer.pad({"input_ids": rows}, padding_side="left", return_tensors="pt").to(model.device)
    with torch.no_grad():
        out = model.generate(**batch, max_new_tokens=tokens, do_sample=temperature > 0, temperature=temperature or None, top_k=0, top_p=1.0)
    return out[:, batch["input_ids"].shape[1]:].tolist()


def complete(model, tokenizer, rows, tokens, at_once, temperature):
    """What the model writes behind each list of tokens: lists of at most so many, with the mark of the end if it was reached."""
    end = tokenizer.convert_tokens_to_ids("<|im_end|>")
    written, waiting, live = [[] for _ in rows], sorted(range(len(rows)), key=lambda i: -len(rows[i])), []
    while waiting or live:
        while waiting and len(live) < at_once:
            live.append(waiting.pop())
        more = min(ROUND, tokens - min(len(written[i]) for i in live))
        for i, new in zip(live, _round(model, tokenizer, [rows[i] + written[i] for i in live], more, temperature), strict=True):
            new = new[:new.index(end) + 1] if end in new else new
            written[i] = (written[i] + new)[:tokens]
        live = [i for i in live if len(written[i]) < tokens and end not in written[i][-1:]]
    return written


def write(model, tokenizer, prompts, knobs, seed=0):
    """For each prompt `samples` answers."""
    torch.manual_seed(seed)
    model.eval()
    asked = [corpus.question(tokenizer, prompt) for prompt in prompts for _ in range(knobs["samples"])]
    texts = [tokenizer.decode(ids, skip_special_tokens=True)
             for ids in complete(model, tokenizer, asked, knobs["tokens"], knobs["at_once"], knobs["temperature"])]
    return [texts[first:first + knobs["samples"]] for first in range(0, len(texts), knobs["samples"])]
