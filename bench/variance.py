"""How the judge tells a wrong variance from a right one, by hundreds of draws of the inputs alone (no kernel is compiled).

    python bench/variance.py [DRAWS]

A layer norm of 16 rows of 300 in float32, as a kernel of 32 lanes adds up. Wrong: E[x^2] - E[x]^2, below some mean or at
all. Right: the same of what is left of each row's first element, which is the less exact the further that one lies out.
"""
import os
import sys

import torch

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
from cawb_host.judge.inputs import battery
from cawb_host.judge.compare import plain

FLOOR, FACTOR, FAR_FACTOR = 7.6e-6, 3, 100      # tolerance.floors.float32.worst, factor, battery_factor of base/defaults.lua
ROWS, COLS = 16, 300


def total(rows):
    """Each of 32 lanes adds up in order; then the lanes, by halves."""
    padded = torch.nn.functional.pad(rows, (0, -rows.shape[1] % 32)).view(len(rows), -1, 32)
    lanes = torch.zeros(len(rows), 32)
    for i in range(padded.shape[1]):
        lanes = lanes + padded[:, i]
    for step in (16, 8, 4, 2, 1):
        lanes = lanes + lanes[:, torch.arange(32) ^ step]
    return lanes[:, :1]


def shifted(x):
    rest = x - x[:, :1]
    mean = total(rest) / COLS
    return (rest - mean) * torch.rsqrt(total(rest * rest) / COLS - mean * mean + 1e-5)


def one_pass(x, below):
    mean = total(x) / COLS
    right = total((x - mean) ** 2) / COLS
    wrong = (total(x * x) / COLS - mean * mean).clamp(min=0)
    return (x - mean) * torch.rsqrt(torch.where(mean.abs() < below, wrong, right) + 1e-5)


def norm(x):
    return torch.nn.functional.layer_norm(x, (COLS,))


def drawn(case, seed):
    torch.manual_seed(seed)
    return battery.apply(case, [torch.empty(ROWS, COLS).normal_()])[0]


def error(y, exact):
    return float((y - exact).abs().max())


def limit(x, exact, factor):
    return max(factor * error(norm(x), exact), FLOOR * float(exact.abs().max()))


def missed(below, draws):
    count = 0
    for seed in range(draws):
        x = drawn("offset", seed)
        exact = norm(x.double())
        count += error(one_pass(x, below), exact) <= limit(x, exact, FAR_FACTOR)
    return count


def largest_first(x):
    at = x.abs().argmax(1, keepdim=True)
    first, largest = x[:, :1].clone(), x.gather(1, at)
    return x.scatter(1, at, first).scatter(1, torch.zeros_like(at), largest)


def ways(x, exact, seed):
    found = []
    for way in range(plain.WAYS):
        with plain.Plain(way, seed):
            found.append(error(norm(x), exact))
    return found


def accused(case, draws, factor):
    """By eager PyTorch and the floor; by sums in order, too; by a variance in one pass, too."""
    counts = [0, 0, 0]
    for seed in range(draws):
        x = largest_first(drawn(case, seed))
        exact = norm(x.double())
        most, off = limit(x, exact, factor), error(shifted(x), exact)
        if off > most:
            straight = ways(x, exact, seed)
            counts = [n + (off > max(most, 3 * more)) for n, more in
                      zip(counts, (0, max(straight[:plain.ORDERS]), max(straight)))]
    return counts


def main():
    draws = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    torch.set_num_threads(1)
    print("PyTorch %s, %d draws each" % (torch.__version__, draws))
    for below, what in ((float("inf"), "everywhere"), (200, "where the mean is below 200"), (20, "below 20"), (4, "below 4")):
        print("E[x^2] - E[x]^2 %-28s missed by one draw of 'offset' in %d of %d" % (what, missed(below, draws), draws), flush=True)
    for case, factor in (("mixed", FACTOR), ("heavy", FAR_FACTOR)):
        print("one pass of what is left of the first element, '%s' with the largest of each row first: beyond eager PyTorch and"
              " the floor in %d, beyond sums in order too in %d, beyond a variance in one pass too in %d, of %d"
              % ((case,) + tuple(accused(case, draws, factor)) + (draws,)), flush=True)


if __name__ == "__main__":
    main()
