"""devices: the chip that kernels are made for."""
import dataclasses
import functools

import torch

from cawb.backend import native
from cawb.backend.recording import Refused

# Simulated devices by capability: their description names the architecture, and no GPU is touched by the compiler.
BY_CAPABILITY = {(7, 5): "sim:t4", (8, 0): "sim:a100", (8, 6): "sim:a10", (8, 9): "sim:l40s", (9, 0): "sim:h100", (10, 0): "sim:b200"}


@dataclasses.dataclass(frozen=True)
class Chip:
    """`simulated`: the description that cawb lower opens; `sms`, `memory`, `name`: of the GPU, None for the description's own;
    `gpu`: its number, or None where the simulated device executes too."""
    simulated: str
    sms: int | None = None
    memory: int | None = None
    gpu: int | None = None
    name: str | None = None


@functools.lru_cache(None)
def of_gpu(index):
    about = torch.cuda.get_device_properties(index)
    name = BY_CAPABILITY.get((about.major, about.minor))
    if name is None:
        raise Refused("there is no description of a GPU of capability %d.%d" % (about.major, about.minor))
    return Chip(name, about.multi_processor_count, about.total_memory, index, about.name)


def find(example, options):
    """The Chip for these arguments; raises Refused where they are elsewhere. Some may be on the processor beside a GPU's."""
    found = {x.device for x in example if isinstance(x, torch.Tensor) and x.device.type != "cpu"} or {torch.device("cpu")}
    if len(found) > 1:
        raise Refused("its tensors are on several devices: %s" % ", ".join(sorted(map(str, found))))
    device = found.pop()
    if options.device.startswith("sim:"):
        if device.type != "cpu":
            raise Refused("options ask for %s, which takes tensors on the processor; these are on %s" % (options.device, device))
        return Chip(options.device)
    if device.type == "cuda" and not native.library():
        raise Refused("this build has no launcher for GPUs")
    if device.type != "cuda":
        raise Refused("its tensors are on the processor; options={\"device\": \"sim:h100\"} simulates a GPU")
    return of_gpu(device.index if device.index is not None else torch.cuda.current_device())
