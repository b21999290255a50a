"""bias: by which share results of products are too small or too large, and their error, beside eager PyTorch's; both against float64.
python3 bench/door/bias.py [--device sim:h100] [--only PATTERN]

A simulated tensor core adds up as a Hopper does, bit for bit, so its figures are a GPU's. The bias is the sum of (result - exact) exact, relative to
that of exact^2: rounding averages out in it, sums that are cut off towards zero do not. Both figures are relative to the exact results' root mean
square. Numbers are normal, normal ones above zero, or uniform in [0, 1).
"""
import argparse
import pathlib
import re
import sys
import zlib

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[2] / "python")]

import torch                                  # pylint: disable=wrong-import-position
from torch.nn import functional as F          # pylint: disable=wrong-import-position

import cawb                                   # pylint: disable=wrong-import-position


def normal(*shape):
    return torch.randn(*shape)


def above(*shape):
    return torch.randn(*shape).relu()


def positive(*shape):
    return torch.rand(*shape)


def spikes(*shape):
    """Gaussians of distances at places side by side: numbers down to the smallest that float32 has."""
    return torch.exp(-25 * (10 * torch.rand(shape[0], 1) - torch.linspace(0, 10, shape[1])) ** 2)


def attention(x, y):
    return F.scaled_dot_product_attention(x, x, y)


def gradient(x, y):
    """Of the weights of a linear layer: x is what it read, y the gradient of its results."""
    weights = torch.zeros(y.shape[1], x.shape[1], dtype=x.dtype, requires_grad=True)
    return torch.autograd.grad((F.linear(x, weights) * y).sum(), weights)[0]    # pylint: disable=not-callable


def linear(x, y):
    return F.linear(x, y)                     # pylint: disable=not-callable


USUAL = {"normal": (normal, normal), "above zero": (above, normal), "positive": (positive, positive)}
CASES = {  # function, sizes of both inputs, numbers
    "linear 512 x 512 x 256": (linear, (512, 512), (256, 512), USUAL),
    "linear 512 x 4096 x 128": (linear, (512, 4096), (128, 4096), USUAL),
    "linear 512 x 64 x 256": (linear, (512, 64), (256, 64), USUAL),
    "conv 3x3 of 64, 14x14": (lambda x, y: F.conv2d(x, y, padding=1), (4, 64, 14, 14), (64, 64, 3, 3), USUAL),
    "conv 3x3 of 16, 28x28": (lambda x, y: F.conv2d(x, y, padding=1), (8, 16, 28, 28), (32, 16, 3, 3), USUAL),
    "conv 7x7 of 3, 32x32": (lambda x, y: F.conv2d(x, y, stride=2, padding=3), (2, 3, 32, 32), (64, 3, 7, 7), USUAL),
    "attention 256 x 64": (attention, (2, 8, 256, 64), (2, 8, 256, 64), USUAL),
    "attention 50 x 64": (attention, (2, 4, 50, 64), (2, 4, 50, 64), USUAL),
    "gradient of 4096 rows": (gradient, (4096, 96), (4096, 64), USUAL),
    "Gaussians of 2048 rows": (lambda x, y: x.t() @ y, (2048, 128), (2048, 50), {"positive": (positive, spikes), "normal": (normal, spikes)}),
}


def told(found, exact):
    off = found.double() - exact
    return "%.1e %+.1e" % ((off.square().mean() / exact.square().mean()).sqrt(), (off * exact).sum() / exact.square().sum())


def row(f, x, y, device):
    torch._dynamo.reset()                     # pylint: disable=protected-access
    fast = cawb.compile(f, choose="always", cache=None, device=device)
    exact = f(x.double(), y.double())
    return told(f(x, y), exact), told(fast(x, y), exact)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="sim:h100")
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    print("%-24s %-12s %-19s %s" % ("product", "numbers", "eager: error, bias", "cawb: error, bias"))
    for name, (f, one, other, kinds) in CASES.items():
        for kind, (make, make_other) in kinds.items():
            if re.search(given.only, name):
                torch.manual_seed(zlib.crc32((name + kind).encode()))
                print("%-24s %-12s %-19s %s" % (name, kind, *row(f, make(*one), make_other(*other), given.device)), flush=True)


main()
