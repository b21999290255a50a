"""Products with one mistake each, and honest ones in other orders, as bench/bounds.lua wants
them: lines of JSON with what the judge is told of an output, and the largest error beside the
bound of a sum of products.

    |fl(a b) - a b| <= g(k) |a| |b|,  g(k) = k u / (1 - k u)   (Higham, 2002, section 3.5)

An element's error beside (g(k) + u) |a| |b| is at most 1 for any order of summation in
float32. Usage: bounds.py CORE COUNT SEED
"""
import json
import sys

sys.path.insert(0, sys.argv[1])
import torch  # noqa: E402

from cawb_host.judge.compare.reference import Expected  # noqa: E402

UNIT = 2.0 ** -24


def sequential(a, b, order=None):
    """One term after the other, each sum rounded: the most error that an order makes."""
    found = torch.zeros(a.shape[0], b.shape[1])
    for k in order if order is not None else range(a.shape[1]):
        found += a[:, k:k + 1] * b[k]
    return found


def split(a, b, parts):
    cuts = torch.arange(a.shape[1]).chunk(parts)
    return sum(sequential(a[:, c], b[c]) for c in cuts)


def three_tf32(a, b):
    """Factors in two halves of TF32: nearly float32 by tensor cores."""
    def half(x):
        return ((x.view(torch.int32) + (1 << 12)) & -(1 << 13)).view(torch.float32)
    ah, bh = half(a), half(b)
    al, bl = half(a - ah), half(b - bh)
    return al @ bh + ah @ bl + ah @ bh


HONEST = {"eager": lambda a, b: a @ b, "sequential": sequential,
          "backwards": lambda a, b: sequential(a, b, range(a.shape[1] - 1, -1, -1)),
          "split-K of 4": lambda a, b: split(a, b, 4), "split-K of 32": lambda a, b: split(a, b, 32),
          "three TF32": three_tf32}


def pick(n):
    return int(torch.randint(n, ()))


def dropped_everywhere(c, a, b):
    k = pick(a.shape[1])
    return c - a[:, k:k + 1] * b[k]


def dropped_in_a_row(c, a, b):
    k, i = pick(a.shape[1]), pick(a.shape[0])
    c[i] -= a[i, k] * b[k]
    return c


def dropped_in_an_element(c, a, b):
    k, i, j = pick(a.shape[1]), pick(a.shape[0]), pick(b.shape[1])
    c[i, j] -= a[i, k] * b[k, j]
    return c


def stale_tile_in_a_row(c, a, b):
    """Eight terms of a row are those of the eight before."""
    i, k = pick(a.shape[0]), 8 + pick(a.shape[1] - 16)
    c[i] += a[i, k - 8:k] @ b[k - 8:k] - a[i, k:k + 8] @ b[k:k + 8]
    return c


def stale_tile_in_an_element(c, a, b):
    i, j, k = pick(a.shape[0]), pick(b.shape[1]), 8 + pick(a.shape[1] - 16)
    c[i, j] += a[i, k - 8:k] @ b[k - 8:k, j] - a[i, k:k + 8] @ b[k:k + 8, j]
    return c


def bf16_sum_in_a_row(c, a, b):
    i = pick(a.shape[0])
    c[i] = c[i].bfloat16().float()
    return c


MUTANTS = {f.__name__.replace("_", " "): f for f in (
    dropped_everywhere, dropped_in_a_row, dropped_in_an_element, stale_tile_in_a_row,
    stale_tile_in_an_element, bf16_sum_in_a_row)}


def positive(rows, cols):
    return torch.rand(rows, cols)


def mixed(rows, cols):
    """Both signs, and rows between a quarter and four times as large: as host/judge/battery.py has it."""
    return torch.randn(rows, cols) * 2 ** (4 * torch.rand(rows, 1) - 2)


def told(kind, name, wrong, a, b, c):
    wide, size = a.double() @ b.double(), a.double().abs() @ b.double().abs()
    k = a.shape[1]
    bound = (k * UNIT / (1 - k * UNIT) + UNIT) * size
    probable = (4 * k ** 0.5 + 1) * UNIT * size
    error = (c.double() - wide).abs()
    entry = Expected(wide, a @ b).compare(c, 0x7ff97ff9)
    print(json.dumps({"inputs": kind, "name": name, "wrong": wrong, "k": k, "entry": entry,
                      "bound": float((error / bound).max()),
                      "probable": float((error / probable).max())}))


def main(count, seed):
    torch.manual_seed(seed)
    torch.set_num_threads(1)
    for k in (64, 512, 4096):
        for kind in (positive, mixed):
            for _ in range(count):
                times = 1 if k > 512 else 1 + 7 * pick(2)      # one element hides in many
                m, n = (16 + pick(48)) * times, (16 + pick(112)) * times
                a, b = kind(m, k), kind(k, n)
                for name, make in HONEST.items():
                    told(kind.__name__, name, False, a, b, make(a, b))
                for name, make in MUTANTS.items():
                    told(kind.__name__, name, True, a, b, make(a @ b, a, b))


if __name__ == "__main__":
    main(int(sys.argv[2]), int(sys.argv[3]))
