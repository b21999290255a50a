"""sampling: gradients of reads at computed places, of pooling and of padding, for late.py. Where elements are means or copies of neighbours
along each dimension, the gradient is a product with a matrix for each dimension."""
import torch


def source(coords, size, padding, align):
    """Places on an axis of so many elements for coordinates in [-1, 1], and their slope. PyTorch: GridSampler.h."""
    scale = (size - 1) / 2 if align else size / 2
    at = coords * scale + (size - 1) / 2
    if padding == 0:
        return at, scale
    inside = torch.logical_and(at > 0, at < size - 1)
    return at.clamp(0, size - 1), torch.where(inside, scale, 0.0)


def neighbours(at, nearest):
    """(place, weight, slope of the weight) on an axis."""
    if nearest:
        return [(at.round(), torch.ones_like(at), 0.0)]
    low = at.floor()
    return [(low, low + 1 - at, -1.0), (low + 1, at - low, 1.0)]


def grid_sampler_2d_backward(grad, x, grid, interpolation, padding, align, mask):
    if interpolation == 2 or padding == 2:
        return NotImplemented
    count, channels, high, wide = x.shape
    (across, scale_x), (down, scale_y) = (source(grid[..., d].flatten(1), x.shape[3 - d], padding, align) for d in (0, 1))
    grad, flat = grad.flatten(2), x.flatten(2)
    made, by_x, by_y = torch.zeros_like(flat), torch.zeros_like(across), torch.zeros_like(down)
    for column, weight_x, slope_x in neighbours(across, interpolation == 1):
        for row, weight_y, slope_y in neighbours(down, interpolation == 1):
            inside = (column >= 0) & (column < wide) & (row >= 0) & (row < high)
            index = torch.where(inside, row * wide + column, 0).to(torch.int64)[:, None].expand(count, channels, grad.shape[-1])
            made = made.scatter_add(2, index, grad * torch.where(inside, weight_x * weight_y, 0.0)[:, None])
            if interpolation == 0 and mask[1]:
                seen = torch.where(inside, (flat.gather(2, index) * grad).sum(1), 0.0)
                by_x, by_y = by_x + seen * weight_y * slope_x, by_y + seen * weight_x * slope_y
    made = made.view(x.shape) if mask[0] else None
    return made, torch.stack([by_x * scale_x, by_y * scale_y], -1).view(grid.shape) if mask[1] else None


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


def adaptive_avg_pool2d_backward(grad, x):
    return back(grad, [averages(x.shape[d], grad.shape[d], grad) for d in (-2, -1)])


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


def adaptive_max_pool2d_backward(grad, x, indices):
    return torch.zeros_like(x).flatten(-2).scatter_add(-1, indices.flatten(-2), grad.flatten(-2)).view(x.shape)


def max_pool3d_backward(grad, x, kernel, stride, padding, dilation, ceil_mode, indices):
    del kernel, stride, padding, dilation, ceil_mode
    return torch.zeros_like(x).flatten(-3).scatter_add(-1, indices.flatten(-3), grad.flatten(-3)).view(x.shape)
