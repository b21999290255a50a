"""The dispatch mode that all modes of the task host derive from."""
from torch.utils._python_dispatch import TorchDispatchMode


class Mode(TorchDispatchMode):
    """PyTorch wraps a mode's __torch_dispatch__ so that torch.compile leaves it alone. The wrapper imports torch._dynamo, which takes a
    second of a processor, and costs each operator some microseconds. No mode here is on while something is compiled."""

    @classmethod
    def _should_skip_dynamo(cls):
        return False
