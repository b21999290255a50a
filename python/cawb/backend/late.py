"""late: operators that the compiler lacks, as operators that it has, when a graph is recorded for it. The graph itself keeps them, so that the
fallback runs PyTorch's own."""
import math

import torch
from torch._decomp import decomposition_table
from torch.utils._python_dispatch import TorchDispatchMode

from cawb.backend import attention, sampling

aten = torch.ops.aten
WAYS = {}


def way(*operators):
    def note(f):
        WAYS.update((operator, f) for operator in operators)
        return f
    return note


def follows_data(target, args):
    """Whether a result's shape does. An index does only where it is a mask."""
    if torch.Tag.dynamic_output_shape not in getattr(target, "tags", ()):
        return False
    indices = args[1] if target is aten.index.Tensor else None
    return indices is None or any(x is not None and x.dtype in (torch.bool, torch.uint8) for x in indices)


class Late(TorchDispatchMode):
    """`own`: names of the operators that the compiler has; `name_of`: from an operator to its name. A way may return NotImplemented."""

    def __init__(self, own, name_of):
        super().__init__()
        self.own, self.name_of = own, name_of

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        found = WAYS.get(func) or self.known(func)
        if found is not None:
            with self:
                result = found(*args, **(kwargs or {}))
            if result is not NotImplemented:
                return result
        return func(*args, **(kwargs or {}))

    def known(self, func):
        """PyTorch's own way, of an operator that the compiler does not name and that draws no random numbers."""
        name = self.name_of(func)
        if "." in name:                            # another library's
            return None
        if torch._C._dispatch_has_kernel_for_dispatch_key(func.name(), "CompositeImplicitAutograd"):
            return func.decompose
        if name in self.own or func.is_view or torch.Tag.nondeterministic_seeded in func.tags:
            return None
        return decomposition_table.get(func)


def listed(value, count):
    value = [value] if isinstance(value, int) else list(value)
    return value * count if len(value) == 1 else value


# ---- convolutions

def beyond(size, grad, kernel, stride, padding, dilation):
    """What PyTorch calls output_padding, of the transposed convolution that leads from a gradient back to the input."""
    return [n - ((o - 1) * s - 2 * p + d * (k - 1) + 1) for n, o, k, s, p, d in zip(size, grad, kernel, stride, padding, dilation)]


def windows(x, kernel, stride, padding, dilation, wanted):
    """(batch, channels and places in a window, places of the result): elements of x that meet the weights; `wanted`: sizes of the result."""
    if all(k == s == 1 for k, s in zip(kernel, stride)) and not any(padding):
        return x.flatten(2)
    if len(kernel) == 1:
        x, kernel, dilation, padding, stride, wanted = x[:, :, None], [1, *kernel], [1, *dilation], [0, *padding], [1, *stride], [1, *wanted]
    found = aten.im2col(x, kernel, dilation, padding, stride)
    sizes = [(n + 2 * p - d * (k - 1) - 1) // s + 1 for n, k, s, p, d in zip(x.shape[2:], kernel, stride, padding, dilation)]
    return found if sizes == wanted else found.unflatten(2, sizes)[:, :, :wanted[0], :wanted[1]].flatten(2)


def grad_of_weight(x, grad, shape, stride, padding, dilation, groups):
    """Sums over batch and places: a product of matrices for each group; of a group of one channel, sums of its own."""
    if len(stride) == 3:
        return grad_of_weight_3d(x, grad, shape, stride, padding, dilation, groups)
    read = windows(x, shape[2:], stride, padding, dilation, [*grad.shape[2:]]).unflatten(1, (groups, -1)).transpose(0, 1)
    grad = grad.flatten(2).unflatten(1, (groups, -1)).transpose(0, 1)               # group, batch, channel, place
    if grad.shape[2] == 1:
        return (read * grad).sum((1, 3)).view(shape)
    read, grad = read.transpose(1, 2).flatten(2), grad.transpose(1, 2).flatten(2)
    return (aten.bmm(grad, read.transpose(1, 2)) if groups > 1 else aten.mm(grad[0], read[0].t())).view(shape)


def grad_of_weight_3d(x, grad, shape, stride, padding, dilation, groups):
    """A convolution whose batch are the channels, one weight for each channel of the result."""
    place = list(range(3, x.dim() + 1))
    x = x.unflatten(1, (groups, -1)).permute(2, 1, 0, *place).flatten(1, 2)
    made = aten.convolution(x, grad.transpose(0, 1), None, dilation, padding, stride, False, [0] * len(place), groups)
    for d, n in enumerate(shape[2:]):
        made = made.narrow(d + 2, 0, n)
    return made.transpose(0, 1).contiguous()


@way(aten.convolution_backward.default)
def convolution_backward(grad, x, weight, bias_sizes, stride, padding, dilation, transposed, output_padding, groups, mask):
    del bias_sizes, output_padding
    count = x.dim() - 2
    stride, padding, dilation = (listed(v, count) for v in (stride, padding, dilation))
    found = [None, None, None]
    if mask[0] and transposed:
        found[0] = aten.convolution(grad, weight, None, stride, padding, dilation, False, [0] * count, groups)
        for d, n in enumerate(x.shape[2:]):                       # more, where the output was padded by a stride or more
            found[0] = found[0].narrow(d + 2, 0, n) if found[0].shape[d + 2] > n else found[0]
    elif mask[0]:
        more = beyond(x.shape[2:], grad.shape[2:], weight.shape[2:], stride, padding, dilation)
        found[0] = aten.convolution(grad, weight, None, stride, padding, dilation, True, more, groups)
    if mask[1]:
        small, large = (grad, x) if transposed else (x, grad)
        found[1] = grad_of_weight(small, large, weight.shape, stride, padding, dilation, groups)
    if mask[2]:
        found[2] = grad.sum([0, *range(2, grad.dim())])
    return tuple(found)


# ---- windows

@way(aten.max_pool2d_with_indices_backward.default)
def max_pool2d_backward(grad, x, kernel, stride, padding, dilation, ceil_mode, indices):
    del ceil_mode
    return sampling.from_windows(grad, x, *regular(2, kernel, stride, padding, dilation), indices)


def regular(count, kernel, stride, padding, dilation):
    """What a window is along each dimension; without a stride, windows lie beside each other."""
    kernel = listed(kernel, count)
    return kernel, listed(stride, count) if stride else kernel, listed(padding, count), listed(dilation, count)


def spread(grad, kernel, size):
    """Each element over its window, where windows do not overlap; zeros beyond the last one."""
    high, wide = kernel
    grad = grad[..., :, None, :, None].expand(*grad.shape[:-1], high, grad.shape[-1], wide)
    grad = grad.reshape(*grad.shape[:-4], grad.shape[-4] * high, grad.shape[-2] * wide)
    return torch.constant_pad_nd(grad, [0, size[1] - grad.shape[-1], 0, size[0] - grad.shape[-2]])


@way(aten.avg_pool2d_backward.default)
def avg_pool2d_backward(grad, x, kernel, stride, padding, ceil_mode, count_include_pad, divisor):
    kernel, padding = listed(kernel, 2), listed(padding, 2)
    stride = listed(stride, 2) if stride else kernel
    if ceil_mode or x.dim() != 4 or any(padding) and not count_include_pad:
        return sampling.avg_pool_backward(grad, x, kernel, stride, padding, count_include_pad, divisor)
    whole, grad = grad, grad / (divisor or math.prod(kernel))
    if stride == kernel and not any(padding):
        return spread(grad, kernel, x.shape[-2:])
    more = beyond(x.shape[2:], grad.shape[2:], kernel, stride, padding, [1, 1])
    if any(not 0 <= m < s for m, s in zip(more, stride)):
        return sampling.avg_pool_backward(whole, x, kernel, stride, padding, count_include_pad, divisor)
    ones = torch.ones(x.shape[1], 1, *kernel, dtype=x.dtype, device=x.device)
    return aten.convolution(grad, ones, None, stride, padding, [1, 1], True, more, x.shape[1])


@way(aten.avg_pool3d_backward.default)
def avg_pool3d_backward(grad, x, kernel, stride, padding, ceil_mode, count_include_pad, divisor):
    del ceil_mode
    kernel, padding = listed(kernel, 3), listed(padding, 3)
    stride = listed(stride, 3) if stride else kernel
    return sampling.avg_pool_backward(grad, x, kernel, stride, padding, count_include_pad, divisor)


@way(aten.replication_pad1d_backward.default, aten.replication_pad2d_backward.default, aten.replication_pad3d_backward.default)
def replication_pad_backward(grad, x, padding):
    return sampling.replication_pad_backward(grad, x, padding)


@way(aten._adaptive_avg_pool2d_backward.default)
def adaptive_avg_pool2d_backward(grad, x):
    if any(n % o for n, o in zip(x.shape[-2:], grad.shape[-2:])):
        return sampling.adaptive_avg_pool_backward(grad, x, 2)
    kernel = [n // o for n, o in zip(x.shape[-2:], grad.shape[-2:])]
    return spread(grad / math.prod(kernel), kernel, x.shape[-2:])


@way(aten.upsample_nearest2d_backward.default)
def upsample_nearest2d_backward(grad, output_size, input_size, scales_h=None, scales_w=None):
    high, wide = (o // i for o, i in zip(output_size, input_size[-2:]))
    if [n * s for n, s in zip(input_size[-2:], (high, wide))] != list(output_size) or (scales_h or high, scales_w or wide) != (high, wide):
        return sampling.upsample_nearest2d_backward(grad, input_size, scales_h, scales_w)
    return grad.unflatten(-1, (-1, wide)).unflatten(-3, (-1, high)).sum((-1, -3))


way(aten.grid_sampler_2d_backward.default, aten.grid_sampler_3d_backward.default)(sampling.grid_sampler_backward)
way(aten._upsample_bilinear2d_aa_backward.default)(sampling.smoothed_backward(sampling.triangle, 1))
way(aten._upsample_bicubic2d_aa_backward.default)(sampling.smoothed_backward(sampling.cubic, 2))


@way(aten.adaptive_max_pool2d_backward.default)
def adaptive_max_pool2d_backward(grad, x, indices):
    return sampling.put_back(grad, x, indices, 2)


@way(aten.adaptive_max_pool3d_backward.default)
def adaptive_max_pool3d_backward(grad, x, indices):
    return sampling.put_back(grad, x, indices, 3)


@way(aten.max_pool3d_with_indices_backward.default)
def max_pool3d_backward(grad, x, kernel, stride, padding, dilation, ceil_mode, indices):
    del ceil_mode
    return sampling.from_windows(grad, x, *regular(3, kernel, stride, padding, dilation), indices)


@way(aten._adaptive_avg_pool3d_backward.default)
def adaptive_avg_pool3d_backward(grad, x):
    return sampling.adaptive_avg_pool_backward(grad, x, 3)


# ---- places and distances

@way(aten.index_put.default, aten._unsafe_index_put.default)
def index_put(x, indices, values, accumulate=False):
    """The dimensions that are indexed come first; where values are added they become one, in its place."""
    lead = next((d for d, index in enumerate(indices) if index is not None), 0)
    if lead == 0 or any(index is None for index in indices[lead:]):
        return NotImplemented
    found = torch.broadcast_tensors(*indices[lead:])
    count, wide = len(found), found[0].dim()
    values = values.expand(*x.shape[:lead], *found[0].shape, *x.shape[lead + count:])
    if accumulate and all(index.dtype != torch.bool for index in found):
        return added_at(x, found, values, lead)
    values = values.movedim(list(range(lead, lead + wide)), list(range(wide)))
    first = x.movedim(list(range(lead, lead + count)), list(range(count)))
    made = aten.index_put(first, found, values, accumulate)
    return made.movedim(list(range(count)), list(range(lead, lead + count)))


def added_at(x, found, values, lead):
    sizes, place = x.shape[lead:lead + len(found)], 0
    for index, size in zip(found, sizes):
        place = place * size + torch.where(index < 0, index + size, index)
    flat = x.reshape(*x.shape[:lead], sizes.numel(), *x.shape[lead + len(found):])
    values = values.reshape(*x.shape[:lead], place.numel(), *x.shape[lead + len(found):])
    return torch.index_add(flat, lead, place.reshape(-1), values).reshape(x.shape)


@way(aten.as_strided_scatter.default)
def as_strided_scatter(x, src, size, stride, storage_offset=None):
    made = x.clone(memory_format=torch.contiguous_format)
    made.as_strided(size, stride, storage_offset or 0).copy_(src)
    return made


@way(aten._cdist_backward.default)
def cdist_backward(grad, x, y, p, distance):
    if p == 1:
        return (grad[..., None] * (x[..., :, None, :] - y[..., None, :, :]).sign()).sum(-2)
    if p != 2:
        return NotImplemented
    weights = torch.where(distance == 0, 0, grad / distance)
    return (weights[..., None] * (x[..., :, None, :] - y[..., None, :, :])).sum(-2)


@way(aten._weight_norm_interface_backward.default)
def weight_norm_backward(grad, saved_v, saved_g, saved_norms, dim):
    """Of v g / |v|, where the norm is over all dimensions but `dim`."""
    inner = (grad * saved_v).sum([d for d in range(grad.dim()) if d != dim % grad.dim()], keepdim=True)
    return saved_g / saved_norms * (grad - saved_v * inner / saved_norms.square()), inner / saved_norms


# ---- attention

WAYS.update(attention.WAYS)
