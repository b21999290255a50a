"""gpu_attention: PyTorch's operators of attention on GPUs, on the processor, where PyTorch has none. So graphs with them run on a simulated device,
with eager results beside them. All between 16-bit arguments and results is float32, and the saved sums and seeds are not read."""
import math

import torch

library = torch.library.Library("aten", "IMPL")


def for_heads(x, heads):
    return x.repeat_interleave(heads // x.shape[1], 1)


def parts(query, key, value, bias, causal, scale):
    """(query, keys and values of each of its heads, scale, scores) in float32."""
    query, key, value = query.float(), for_heads(key.float(), query.shape[1]), for_heads(value.float(), query.shape[1])
    scale = scale or 1 / math.sqrt(query.shape[-1])
    made = query @ key.transpose(-1, -2) * scale
    if causal:
        made = made.masked_fill(torch.ones(made.shape[-2:], dtype=torch.bool).triu(1), -math.inf)
    return query, key, value, scale, made if bias is None else made + bias.float()


def like(tensor, other):
    """In another's type and strides, as those operators lay out results."""
    return torch.empty_like(other).copy_(tensor)


def forward(query, key, value, bias, causal, scale):
    _, _, wide, _, made = parts(query, key, value, bias, causal, scale)
    return like(made.softmax(-1) @ wide, query), made.logsumexp(-1)


def backward(grad, query, key, value, out, bias, causal, scale):
    q, k, v, scale, made = parts(query, key, value, bias, causal, scale)
    grad, weights = grad.float(), made.softmax(-1)
    inner = weights * (grad @ v.transpose(-1, -2) - (grad * out).sum(-1, keepdim=True)) * scale
    found = inner @ k, inner.transpose(-1, -2) @ q, weights.transpose(-1, -2) @ grad
    return tuple(like(x.unflatten(1, (given.shape[1], -1)).sum(2), given) for x, given in zip(found, (query, key, value)))


def cudnn(query, key, value, bias, wanted, dropout_p=0.0, is_causal=False, return_debug_mask=False, *, scale=None):
    del wanted, dropout_p, return_debug_mask
    out, sums = forward(query, key, value, bias, is_causal, scale)
    seed, offset = torch.zeros(2, dtype=torch.int64).unbind()
    return out, sums[..., None], None, None, query.shape[2], key.shape[2], seed, offset, None


def cudnn_backward(grad, query, key, value, out, sums, seed, offset, bias, cum_q, cum_k, max_q, max_k, dropout_p, is_causal, *, scale=None):
    del sums, seed, offset, cum_q, cum_k, max_q, max_k, dropout_p
    return backward(grad, query, key, value, out, bias, is_causal, scale)


def flash(query, key, value, dropout_p=0.0, is_causal=False, return_debug_mask=False, *, scale=None):
    del dropout_p, return_debug_mask
    out, sums = forward(query, key, value, None, is_causal, scale)
    state, unused = torch.zeros(2, dtype=torch.uint64), torch.zeros((), dtype=torch.uint64)
    return out, sums, None, None, query.shape[2], key.shape[2], state, unused, query.new_empty(0)


def flash_backward(grad, query, key, value, out, sums, cum_q, cum_k, max_q, max_k, dropout_p, is_causal, seed, offset, *, scale=None):
    del sums, cum_q, cum_k, max_q, max_k, dropout_p, seed, offset
    return backward(grad, query, key, value, out, None, is_causal, scale)


for name, function in (("cudnn_attention", cudnn), ("cudnn_attention_backward", cudnn_backward), ("flash_attention", flash),
                       ("flash_attention_backward", flash_backward)):
    library.impl("_scaled_dot_product_" + name, function, "CPU")
