"""attention.py: a model whose heads share keys writes the same tokens with python/cawb_learn/lm/attention.py as with transformers' sdpa, at questions of
several lengths, with a cache that grows and one that has its place ahead. Exit status 77 where there is no peft."""
import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
sys.path[:0] = [os.path.join(ROOT, "python")]

try:
    import torch
    import transformers
    from cawb_learn.lm import steps, weights
except ImportError:
    sys.exit(77)

_, tokenizer = weights.load("tiny")
torch.manual_seed(1)
model = transformers.LlamaForCausalLM(transformers.LlamaConfig(
    vocab_size=len(tokenizer), hidden_size=36, intermediate_size=64, num_hidden_layers=2, num_attention_heads=9, num_key_value_heads=3)).eval()
rows = tokenizer.pad({"input_ids": [list(range(5, 5 + n)) for n in (7, 20, 3, 70)]}, padding_side="left", return_tensors="pt")


def written(attention, cache):
    model.set_attn_implementation(attention)
    return model.generate(**rows, max_new_tokens=30, do_sample=False, pad_token_id=0, cache_implementation=cache).tolist()


expected = written("sdpa", None)
assert len({tuple(row) for row in expected}) == 4
for cache in (None, "static"):
    assert written("grouped", cache) == expected, cache
assert weights.load("tiny")[0].config._attn_implementation == "grouped"


def again(run):
    """In place of a CUDA graph: the function itself, whose results come to the same place."""
    out = run()
    kept = torch.zeros_like(out.logits)
    for layer in out.past_key_values.layers:
        layer.cumulative_length -= 1          # a capture runs nothing

    def replay():
        found = run()
        kept.copy_(found.logits)
    out.logits = kept
    return replay, out


with steps.graphed(model, again):
    assert written("grouped", "static") == expected, "steps as graphs"
assert written("grouped", "static") == expected
