"""Transposed convolutions in float64 on a GPU. cuDNN's repeatable algorithms for them take up to fifteen times as long as
its others, and every verdict needs a dozen references. Here each tap of the kernel is a product of matrices. The products
are added to their places one after the other: repeatable, and as fast as the memory.
"""
import itertools

import torch

from cawb_host.torch.mode import Mode
from cawb_host.torch import operators


class Taps(Mode):
    """Entered ahead of other modes, which see the convolution as ever."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if operators.of(func).name == "convolution" and not kwargs and fits(*args):
            return transposed(*args)
        return func(*args, **(kwargs or {}))


def fits(x, weight, _bias, _stride, _padding, _dilation, is_transposed, *_):
    return is_transposed and x.is_cuda and x.dtype == weight.dtype == torch.float64 and x.numel() > 0


def transposed(x, weight, bias, stride, padding, dilation, _transposed, output_padding, groups):
    """What PyTorch's own convolution returns for these, in any number of dimensions."""
    dims, kernel = x.dim() - 2, weight.shape[2:]
    stride, padding, dilation, more = (list(v) * (dims if len(v) == 1 else 1)
                                       for v in (stride, padding, dilation, output_padding))
    sizes = [(n - 1) * s - 2 * p + d * (k - 1) + m + 1
             for n, s, p, d, k, m in zip(x.shape[2:], stride, padding, dilation, kernel, more)]
    outs = weight.shape[1] * groups
    made = x.new_zeros(x.shape[0], outs, *sizes)
    if bias is not None:
        made += bias.view(-1, *[1] * dims)
    columns = x.reshape(x.shape[0], groups, x.shape[1] // groups, -1)
    for tap in itertools.product(*map(range, kernel)):
        reached = [reach(t * d - p, s, n, size) for t, d, p, s, n, size
                   in zip(tap, dilation, padding, stride, x.shape[2:], sizes)]
        if any(there.start >= there.stop for there, _ in reached):
            continue
        factors = weight[(slice(None), slice(None)) + tap].reshape(groups, -1, weight.shape[1]).transpose(1, 2)
        part = torch.matmul(factors, columns).reshape(x.shape[0], outs, *x.shape[2:])
        everything = (slice(None), slice(None))
        made[everything + tuple(there for there, _ in reached)] += part[everything + tuple(of for _, of in reached)]
    return made


def reach(shift, step, count, size):
    """Along one dimension: the places at shift + step * i that there are, and the i of 0 to count - 1 that reach them."""
    first = max(0, -(shift // step))
    last = min(count - 1, (size - 1 - shift) // step)
    return slice(shift + step * first, shift + step * last + 1 if last >= first else 0, step), slice(first, last + 1)
