"""cawb.judge: is this function, or this CUDA kernel, right, and is it faster than PyTorch's? The judge never shares a process with
a candidate: what is judged is named (named.py), its files are sent along (sources.py), and the judge imports it anew, in a jail."""
from cawb.ci.judging import judge
from cawb.ci.likeness import NotSent
from cawb.ci.verdict import Verdict
from cawb.ci.written import Kernel

__all__ = ["Kernel", "NotSent", "Verdict", "judge"]
