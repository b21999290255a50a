"""torch._scaled_mm, the product of float8 matrices: in float64; and on a CPU as accurate as on a GPU, with a scale for each row
too, which PyTorch has on GPUs alone."""
import warnings

import torch

STEP, BITS, PROMOTED = 32, 13, 128      # of an H100: core/sim/isa/body_dot.h; terms behind which a library adds sums up in float32
LEAST = {torch.float8_e4m3fn: -6, torch.float8_e5m2: -14} if hasattr(torch, "float8_e4m3fn") else {}


def scaled(sums, scale_a, scale_b, bias, scale_result):
    result = sums * scale_a.to(sums.dtype) * scale_b.to(sums.dtype)
    result = result if bias is None else result + bias.to(sums.dtype)
    return result if scale_result is None else result * scale_result.to(sums.dtype)


def product(a, b, scale_a, scale_b, bias=None, scale_result=None):
    """The result in float64, before it is rounded."""
    return scaled(a.to(torch.float64) @ b.to(torch.float64), scale_a, scale_b, bias, scale_result)


def exponents(x, least):
    return torch.where(x == 0, -600, (torch.frexp(x).exponent - 1).clamp(min=least)).to(torch.int16)


def add_step(part, a, b, least_a, least_b):
    """The sums so far and those of a step, cut off BITS below the largest exponent among the terms."""
    top = (exponents(a, least_a)[:, :, None] + exponents(b, least_b)).amax(1)
    scale = torch.exp2(BITS - torch.maximum(top, exponents(part, -126)).clamp(min=-100).to(part.dtype))
    terms = (a[:, :, None] * b).mul_(scale[:, None]).to(torch.int32)         # which cuts them off
    sums = (part * scale).to(torch.int32) + terms.sum(1, dtype=torch.int32)
    return ((sums / scale).view(torch.int32) & -1 << 23 - BITS).view(torch.float32)


def added_up(a, b, fast):
    """The product of float8 matrices in float32, as tensor cores add it up: to BITS, and with `fast` to the end."""
    x, y = a.to(torch.float32), b.to(torch.float32)
    total = part = torch.zeros(x.shape[0], y.shape[1])
    for k in range(0, x.shape[1], STEP):
        if k % PROMOTED == 0 and not fast:
            total, part = total + part, torch.zeros_like(part)
        part = add_step(part, x[:, k:k + STEP], y[k:k + STEP], LEAST[a.dtype], LEAST[b.dtype])
    exact = x @ y
    return torch.where(exact.isfinite(), total + part, exact)


def by_rows(a, b, fast):
    rows = max(1, (1 << 20) // (STEP * b.shape[1]))         # whose terms caches hold
    return torch.cat([added_up(part, b, fast) for part in a.split(rows)])


def on_cpu(a, b, scale_a, scale_b, bias=None, scale_result=None, out_dtype=None, use_fast_accum=False):
    return scaled(by_rows(a, b, use_fast_accum), scale_a, scale_b, bias, scale_result).to(out_dtype or a.dtype)


LIBRARY = torch.library.Library("aten", "IMPL")      # for as long as the process lives
if hasattr(torch.ops.aten, "_scaled_mm"):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")               # that PyTorch's own kernel is replaced
        LIBRARY.impl("_scaled_mm", on_cpu, "CPU")
