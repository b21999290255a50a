"""The same by a kernel of Triton's."""
import torch
import triton
import triton.language as tl


@triton.jit
def _rms_norm(y, x, weight, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0) * cols
    at = tl.arange(0, BLOCK)
    inside = at < cols
    v = tl.load(x + row + at, mask=inside, other=0.0)
    scale = 1.0 / tl.sqrt(tl.sum(v * v, 0) / cols + 1e-6)
    tl.store(y + row + at, v * scale * tl.load(weight + at, mask=inside), mask=inside)


def rms_norm(x, weight):
    y = torch.empty_like(x)
    _rms_norm[(x.shape[0],)](y, x, weight, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
    return y
