"""sampling: gradients of reads at computed places, of pooling and of padding, for late.py. Where elements are means or copies of neighbours
along each dimension, the gradient is a product with a matrix for each dimension."""
import itertools
import math

import torch


def reflected(at, low, high):
    """Places thrown back at both borders, and the sign of their slope. PyTorch: GridSampler.h."""
    if low == high:
        return torch.zeros_like(at), torch.zeros_like(at)
    span, beyond = high - low, (at - low).abs()
    flips = (beyond / span).floor()
    rest, even = beyond - flips * span, flips == (flips / 2).floor() * 2
    return torch.where(even, rest, span - rest) + low, torch.where(even == (at >= low), 1.0, -1.0)


def source(coords, size, padding, align):
    """Places on an axis of so many elements for coordinates in [-1, 1], and their slope. PyTorch: GridSampler.h."""
    scale = (size - 1) / 2 if align else size / 2
    at, slope = coords * scale + (size - 1) / 2, scale
    if padding == 0:
        return at, slope
    if padding == 2:
        at, sign = reflected(at, 0, size - 1) if align else reflected(at, -0.5, size - 0.5)
        slope = sign * scale
    inside = torch.logical_and(at > 0, at < size - 1)
    return at.clamp(0, size - 1), torch.where(inside, slope, 0.0)


def neighbours(at, nearest):
    """(place, weight, slope of the weight) on an axis."""
    if nearest:
        return [(at.round(), torch.ones_like(at), 0.0)]
    low = at.floor()
    return [(low, low + 1 - at, -1.0), (low + 1, at - low, 1.0)]


def read(corner, sizes):
    """(whether it is inside, its number) of a place of several axes, the last dimension's first."""
    number, stride, seen = 0, 1, True
    for (at, _, _), size in zip(corner, sizes):
        inside = torch.logical_and(at >= 0, at < size)
        number, stride = number + torch.where(inside, at, 0.0).to(torch.int64) * stride, stride * size
        seen = torch.logical_and(inside, seen) if seen is not True else inside
    return seen, torch.where(seen, number, 0)


def slope_of(corner, axis):
    """Of the product of weights, along one axis."""
    return math.prod(slope if d == axis else weight for d, (_, weight, slope) in enumerate(corner))


def grid_sampler_backward(grad, x, grid, interpolation, padding, align, mask):
    if interpolation == 2:
        return NotImplemented
    sizes = x.shape[:1:-1]                       # coordinates begin with the last dimension
    axes = [source(grid[..., d].flatten(1), size, padding, align) for d, size in enumerate(sizes)]
    grad, flat = grad.flatten(2), x.flatten(2)
    made, slopes = torch.zeros_like(flat), [torch.zeros_like(at) for at, _ in axes]
    for corner in itertools.product(*[neighbours(at, interpolation == 1) for at, _ in axes]):
        inside, number = read(corner, sizes)
        index = number[:, None].expand(*flat.shape[:2], grad.shape[-1])
        made = made.scatter_add(2, index, grad * torch.where(inside, math.prod(weight for _, weight, _ in corner), 0.0)[:, None])
        if interpolation == 0 and mask[1]:
            seen = torch.where(inside, (flat.gather(2, index) * grad).sum(1), 0.0)
            slopes = [s + seen * slope_of(corner, d) for d, s in enumerate(slopes)]
    by_place = torch.stack([s * scale for s, (_, scale) in zip(slopes, axes)], -1).view(grid.shape) if mask[1] else None
    return made.view(x.shape) if mask[0] else None, by_place


def averages(size, wanted, like):
    """A matrix that leads from `size` elements to `wanted` means of neighbours, as adaptive pooling has them."""
    to, of = torch.arange(wanted, device=like.device)[:, None], torch.arange(size, device=like.device)
    begin, end = to * size // wanted, ((to + 1) * size + wanted - 1) // wanted
    return torch.where(torch.logical_and(of >= begin, of < end), 1.0 / (end - begin).to(like.dtype), 0.0)


def back(grad, matrices):
    """The gradient of an input whose last dimensions go through these matrices, each from an input's elements to an output's."""
    for d, matrix in enumerate(matrices):
        at = d - len(matrices)
        grad = (grad.movedim(at, -1) @ matrix).movedim(-1, at)
    return grad


def adaptive_avg_pool_backward(grad, x, count):
    return back(grad, [averages(x.shape[d], grad.shape[d], grad) for d in range(-count, 0)])


def windows(size, wanted, kernel, stride, padding, divided, like):
    """The matrix of means of windows; `divided`: by their part inside of the padding, inside of the tensor ("all", "inside"), or by nothing."""
    begin = torch.arange(wanted, device=like.device)[:, None] * stride - padding
    end, of = (begin + kernel).clamp(max=size + padding), torch.arange(size, device=like.device)
    counts = {"all": end - begin, "inside": end.clamp(max=size) - begin.clamp(min=0), None: torch.ones_like(begin)}[divided]
    return torch.where(torch.logical_and(of >= begin, of < end), 1.0 / counts.to(like.dtype), 0.0)


def avg_pool_backward(grad, x, kernel, stride, padding, count_include_pad, divisor):
    divided, ranks = None if divisor else "all" if count_include_pad else "inside", range(-len(kernel), 0)
    found = back(grad, [windows(x.shape[d], grad.shape[d], kernel[d], stride[d], padding[d], divided, grad) for d in ranks])
    return found / divisor if divisor else found


def replication_pad_backward(grad, x, padding):
    """`padding`: two numbers for each dimension, the last one first."""
    matrices = []
    for d in range(-len(padding) // 2, 0):
        place = (torch.arange(grad.shape[d], device=grad.device) - padding[-2 * d - 2]).clamp(0, x.shape[d] - 1)
        matrices.append((place[:, None] == torch.arange(x.shape[d], device=grad.device)).to(grad.dtype))
    return back(grad, matrices)


def picks(size, wanted, scale, like):
    """A matrix that leads from `size` elements to `wanted` nearest ones. PyTorch: UpSample.h computes places in float32."""
    step = 1 / scale if scale else size / wanted
    place = (torch.arange(wanted, device=like.device).to(torch.float32) * step).floor().clamp(max=size - 1)
    return (place[:, None] == torch.arange(size, device=like.device)).to(like.dtype)


def upsample_nearest2d_backward(grad, input_size, scales_h, scales_w):
    return back(grad, [picks(input_size[d], grad.shape[d], scale, grad) for d, scale in ((-2, scales_h), (-1, scales_w))])


def triangle(x):
    return (1 - x).clamp(min=0.0)


def cubic(x):
    """Keys' kernel with a = -0.5."""
    near, far = (1.5 * x - 2.5) * x * x + 1, ((-0.5 * x + 2.5) * x - 4) * x + 2
    return torch.where(x < 1, near, torch.where(x < 2, far, 0.0))


def smoothed(size, wanted, scale, align, kernel, reach, like):
    """The matrix of a resampling that smooths where it shrinks. PyTorch: UpSampleKernel.cpp, antialias."""
    step = (size - 1) / max(wanted - 1, 1) if align else 1 / scale if scale else size / wanted
    wide = max(step, 1.0)
    center = step * (torch.arange(wanted, device=like.device)[:, None].to(like.dtype) + 0.5)
    of = torch.arange(size, device=like.device).to(like.dtype)
    begin, end = (center - reach * wide + 0.5).clamp(min=0).floor(), (center + reach * wide + 0.5).clamp(max=size).floor()
    weights = torch.where(torch.logical_and(of >= begin, of < end), kernel(((of - center + 0.5) / wide).abs()), 0.0)
    return weights / weights.sum(1, keepdim=True)


def smoothed_backward(kernel, reach):
    def backward(grad, output_size, input_size, align, scales_h=None, scales_w=None):
        del output_size
        return back(grad, [smoothed(input_size[d], grad.shape[d], scale, align, kernel, reach, grad)
                           for d, scale in ((-2, scales_h), (-1, scales_w))])
    return backward


def put_back(grad, x, indices, count):
    """Gradients of the largest elements of windows of so many dimensions, to their places."""
    return torch.zeros_like(x).flatten(-count).scatter_add(-1, indices.flatten(-count), grad.flatten(-count)).view(x.shape)


MOST = 64            # windows that an element asks; from more of them a gradient is put back


def repeated(tensor, times, padding, value):
    """Each element of the last dimensions so many times in a row, with a padding, of which negative numbers take away."""
    for d, n in enumerate(times, -len(times)):
        last = tensor.movedim(d, -1)
        tensor = last[..., None].expand(*last.shape, n).flatten(-2).movedim(-1, d)
    return torch.constant_pad_nd(tensor, [n for pair in reversed(padding) for n in pair], value)


def from_windows(grad, x, kernel, stride, padding, dilation, indices):
    """The same where windows are regular: each place asks the windows that may hold it whether it was their largest element."""
    count = len(kernel)
    sizes, counts = x.shape[-count:], [d * (k - 1) // s + 1 for k, s, d in zip(kernel, stride, dilation)]
    if math.prod(counts) > MOST:
        return put_back(grad, x, indices, count)
    place, parts = torch.arange(math.prod(sizes), device=x.device).view(sizes), []
    for ahead in itertools.product(*map(range, counts)):              # windows ahead of the last one that holds a place
        first = [a * s - p for a, s, p in zip(ahead, stride, padding)]
        ends = [(f, n - f - s * o) for f, n, s, o in zip(first, sizes, stride, grad.shape[-count:])]
        parts.append(torch.where(repeated(indices, stride, ends, -1) == place, repeated(grad, stride, ends, 0.0), 0.0))
    return sum(parts[1:], parts[0])
