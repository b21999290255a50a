"""attention: that of a step which writes one token a row. A model has fewer heads of keys than of queries, and sdpa repeats the keys for each;
here the heads that share keys are rows of one query."""
import torch
import transformers
from transformers.integrations.sdpa_attention import sdpa_attention_forward


def grouped(module, query, key, value, attention_mask, scaling=None, **options):
    """As the attention functions of transformers are called."""
    if query.shape[2] > 1:
        return sdpa_attention_forward(module, query, key, value, attention_mask, scaling=scaling, **options)
    batch, heads, _, size = query.shape
    rows = query.reshape(batch, key.shape[1], -1, size)
    found = torch.nn.functional.scaled_dot_product_attention(rows, key, value, attn_mask=attention_mask, scale=scaling)
    return found.reshape(batch, 1, heads, size), None


transformers.AttentionInterface.register("grouped", grouped)
transformers.AttentionMaskInterface.register("grouped", transformers.masking_utils.sdpa_mask)
