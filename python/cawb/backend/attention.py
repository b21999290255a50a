"""attention: PyTorch's operators of attention and of its gradients, of products and maps, for late.py; what of their results has a meaning; and
the same in float64, for check.py. Nothing random is made here: where there is dropout, a function returns NotImplemented."""
import math
import operator

import torch
from torch.utils._python_dispatch import TorchDispatchMode

aten = torch.ops.aten


# ---- for all of them

def wide(tensor):
    return tensor.float() if tensor.dtype.itemsize == 2 else tensor


def scores(query, key, mask, causal, scale):
    made = query @ key.transpose(-1, -2) * (scale or query.shape[-1] ** -0.5)
    if causal:
        seen = torch.ones(made.shape[-2:], dtype=torch.bool, device=made.device).tril()
        made = torch.where(seen, made, -math.inf)
    return made if mask is None else torch.where(mask, made, -math.inf) if mask.dtype == torch.bool else made + mask


def backward(grad, query, key, value, out, sums, mask, causal, scale):
    """As FlashAttention's paper has it (arXiv 2205.14135, appendix B.4); the last is the gradient of what is added to scores. Of 16-bit numbers
    all is float32 but the factors of the last three products, and `scale` comes behind: small numbers of float16 have few bits."""
    sums = sums[..., :query.shape[-2], None].clamp(min=torch.finfo(sums.dtype).min)       # PyTorch's own may be -inf, of a row that sees nothing
    weights = torch.exp(scores(wide(query), wide(key), mask, causal, scale) - sums)
    added = weights * (wide(grad) @ wide(value).transpose(-1, -2) - (wide(grad) * out).sum(-1, keepdim=True))
    inner, scale = added.to(query.dtype), scale or query.shape[-1] ** -0.5
    of_query, of_key = ((wide(a) @ wide(b) * scale).to(b.dtype) for a, b in ((inner, key), (inner.transpose(-1, -2), query)))
    return of_query, of_key, weights.to(grad.dtype).transpose(-1, -2) @ grad, inner


def forward(query, key, value, mask, causal, scale):
    """A row of a mask that sees nothing has zeros for its result and its sum, as PyTorch's. Scores of 16-bit numbers are not rounded to 16 bits."""
    made = scores(wide(query), wide(key), mask, causal, scale)
    weights, sums = made.softmax(-1) if mask is None else aten._safe_softmax(made, -1), made.logsumexp(-1)
    return weights.to(value.dtype) @ value, sums if mask is None else torch.where(sums == -math.inf, 0.0, sums)


# ---- heads that share keys and values

def for_heads(x, heads):
    """Keys or values of each of so many heads: those beside each other share them."""
    shared = heads // x.shape[1]
    return x if shared == 1 else x[:, :, None].expand(-1, -1, shared, -1, -1).flatten(1, 2)


def grouped(query, key, value, mask, causal, scale):
    return forward(query, for_heads(key, query.shape[1]), for_heads(value, query.shape[1]), mask, causal, scale)


def grouped_backward(grad, query, key, value, out, sums, mask, causal, scale):
    heads, own = query.shape[1], key.shape[1]
    of_query, *found, _ = backward(grad, query, for_heads(key, heads), for_heads(value, heads), out, sums, mask, causal, scale)
    return (of_query, *[x if heads == own else x.unflatten(1, (own, -1)).sum(2) for x in found])


# ---- PyTorch's operators

def on_processors(query, key, value, dropout_p=0.0, is_causal=False, *, attn_mask=None, scale=None):
    if dropout_p or query.shape[1] != key.shape[1]:
        return NotImplemented
    return forward(query, key, value, attn_mask, is_causal, scale)


def on_processors_backward(grad, query, key, value, out, sums, dropout_p, is_causal, *, attn_mask=None, scale=None):
    if dropout_p or query.shape[1] != key.shape[1]:
        return NotImplemented
    return backward(grad, query, key, value, out, sums, attn_mask, is_causal, scale)[:3]


def efficient(query, key, value, attn_bias, compute_log_sumexp, dropout_p=0.0, is_causal=False, *, scale=None):
    """The sums' rows have multiples of 32 elements there. No random number is drawn, so there is no seed and no offset, here and below."""
    if dropout_p or not compute_log_sumexp:
        return NotImplemented
    out, sums = forward(query, key, value, attn_bias, is_causal, scale)
    return out, torch.constant_pad_nd(sums, [0, -sums.shape[-1] % 32]), None, None


def efficient_backward(grad, query, key, value, attn_bias, out, sums, seed, offset, dropout_p, mask, is_causal=False, *, scale=None):
    del seed, offset
    if dropout_p:
        return NotImplemented
    *found, added = backward(grad, query, key, value, out, sums, attn_bias, is_causal, scale)
    found.append(added.sum_to_size(attn_bias.shape) if mask[3] else None)
    return tuple(t if wanted else None for t, wanted in zip(found, mask))


def flash(query, key, value, dropout_p=0.0, is_causal=False, return_debug_mask=False, *, scale=None):
    """Its causal mask ends at the last key, other operators' begins at the first: they are one where there are as many keys as queries."""
    if dropout_p or return_debug_mask or is_causal and query.shape[2] != key.shape[2]:
        return NotImplemented
    return (*grouped(query, key, value, None, is_causal, scale), None, None, query.shape[2], key.shape[2], None, None, None)


def flash_backward(grad, query, key, value, out, sums, cum_seq_q, cum_seq_k, max_q, max_k, dropout_p, is_causal, seed, offset, *, scale=None):
    del cum_seq_q, cum_seq_k, max_q, max_k, seed, offset
    if dropout_p or is_causal and query.shape[2] != key.shape[2]:
        return NotImplemented
    return grouped_backward(grad, query, key, value, out, sums, None, is_causal, scale)


def cudnn(query, key, value, attn_bias, compute_log_sumexp, dropout_p=0.0, is_causal=False, return_debug_mask=False, *, scale=None):
    """Each sum is a row of its own there."""
    if dropout_p or return_debug_mask or not compute_log_sumexp:
        return NotImplemented
    out, sums = grouped(query, key, value, attn_bias, is_causal, scale)
    return out, sums[..., None], None, None, query.shape[2], key.shape[2], None, None, None


def cudnn_backward(grad, query, key, value, out, sums, seed, offset, attn_bias, cum_seq_q, cum_seq_k, max_q, max_k, dropout_p, is_causal, *,
                   scale=None):
    del seed, offset, cum_seq_q, cum_seq_k, max_q, max_k
    if dropout_p:
        return NotImplemented
    return grouped_backward(grad, query, key, value, out, sums[..., 0], attn_bias, is_causal, scale)


# Scores of 16-bit tensors that are written and read here. An estimate: each takes some 40 bytes of traffic, forward and backward, so 4 million of them take
# 50 us of an H100's memory, as long as a dozen kernels take to start. Of more, FlashAttention's and cuDNN's kernels, which write none, should be faster.
MOST = 1 << 22


def is_large(query, key):
    return query.dtype.itemsize == 2 and math.prod(query.shape[:-1]) * key.shape[-2] > MOST


def of_few_scores(function, first):
    """`function` where it is not of too many scores; its argument number `first` is the queries, the next one the keys."""
    return lambda *args, **how: NotImplemented if is_large(*args[first:first + 2]) else function(*args, **how)


def any_flash(query, key, value, dropout_p=0.0, is_causal=False, return_debug_mask=False, *, scale=None):
    """Of many scores it is cuDNN's operator, which makes no uint64: the compiler takes it as long as nobody reads the sums."""
    if not is_large(query, key) or dropout_p or return_debug_mask or is_causal and query.shape[2] != key.shape[2]:
        return flash(query, key, value, dropout_p, is_causal, return_debug_mask, scale=scale)
    out, sums, *more = aten._scaled_dot_product_cudnn_attention(query, key, value, None, True, 0.0, is_causal, scale=scale)
    return (out, sums[..., 0], *more)


ON_PROCESSORS = {aten._scaled_dot_product_flash_attention_for_cpu.default: on_processors,
                 aten._scaled_dot_product_flash_attention_for_cpu_backward.default: on_processors_backward}
FORWARD = {aten._scaled_dot_product_efficient_attention.default: efficient, aten._scaled_dot_product_flash_attention.default: flash,
           aten._scaled_dot_product_cudnn_attention.default: cudnn}
BACKWARD = {aten._scaled_dot_product_efficient_attention_backward.default: efficient_backward,
            aten._scaled_dot_product_flash_attention_backward.default: flash_backward,
            aten._scaled_dot_product_cudnn_attention_backward.default: cudnn_backward}
WAYS = {**ON_PROCESSORS, **{op: of_few_scores(f, 0) for op, f in FORWARD.items()}, **{op: of_few_scores(f, 1) for op, f in BACKWARD.items()},
        aten._scaled_dot_product_flash_attention.default: any_flash}


# ---- in float64

def laid_out(tensor, order):
    """The same numbers, whose dimensions lie in memory in this order, the outermost first."""
    return tensor.permute(order).contiguous().permute([order.index(d) for d in range(tensor.dim())])


def as_gpus(func, given, results):
    """As attention on GPUs lays out its result, or the gradients of its three inputs: views behind it may need that."""
    given = [given[0]] if func in FORWARD else given[1:4]
    def order(like):
        efficiently = "efficient" in func.name()
        return [0, 2, 1, 3] if efficiently else sorted(range(4), key=lambda d: (-like.stride(d), d))
    return tuple(laid_out(t, order(given[k])) if k < len(given) and t is not None else t for k, t in enumerate(results))


class InFloat64(TorchDispatchMode):
    """Attention on GPUs has no float64: it is made of products."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs, found = kwargs or {}, FORWARD.get(func) or BACKWARD.get(func)
        if found in (efficient, cudnn):
            args = (*args[:4], True, *args[5:])                  # else there are no sums, and no way
        result = found(*args, **kwargs) if found else NotImplemented
        return func(*args, **kwargs) if result is NotImplemented else as_gpus(func, args, result)


# ---- what has a meaning

def shown(module):
    """For each result of a graph a function to the part of it that is of meaning; None where nothing is. The seed and the offset of an
    attention without dropout are of none, nor is what fills up the rows of its sums, nor the sum of a row that sees nothing."""
    node, = module.graph.find_nodes(op="output")
    return [part_of(x) for x in (node.args[0] if isinstance(node.args[0], (tuple, list)) else node.args)]


def part_of(node):
    if not isinstance(node, torch.fx.Node) or node.target is not operator.getitem or node.args[1] == 0 or node.args[0].target not in FORWARD:
        return lambda x: x
    size = node.args[0].args[0].meta["val"].shape[-2]
    return (lambda x: torch.nan_to_num(x[:, :, :size], 0.0, 0.0, 0.0)) if node.args[1] == 1 else None
