"""cawb from Python: an environment that judges GPU kernels, for trainers and scripts. Standard library only.

    import cawb
    with cawb.serve("examples/softmax.py", device="sim:h100") as env:
        print(env.score("softmax", source=source, plan=plan)["reward"])

`serve` starts a server of its own and ends it; `connect` uses one that runs. Both give an Env. In coroutines:
`async with cawb.aserve(...) as env: await env.score(...)`, and `cawb.aconnect(...)`. `profile` says what a device counts of
a candidate, and what bounds it.

`judge(function, kernel, examples)` says whether a kernel, or any function, is right and faster: a Verdict.

`compile(model)` is torch.compile(model, backend="cawb"), and `explain(compiled)` says what became of it: both need PyTorch.
"""
from cawb.aio import AsyncEnv, aconnect, aserve
from cawb.ci import Kernel, NotSent, Verdict, judge
from cawb.client import Env, Failed, Refused, connect
from cawb.look import profile
from cawb.process import program, serve
from cawb.session import Session

__all__ = ["AsyncEnv", "Env", "Failed", "Kernel", "NotSent", "Refused", "Session", "Verdict", "aconnect", "aserve", "compile", "connect", "explain",
           "judge", "profile", "program", "prompts", "serve"]


def compile(model, **options):                # pylint: disable=redefined-builtin
    """torch.compile(model, backend="cawb") with these options: device, choose, report and others (cawb.backend.Options)."""
    from cawb import backend                  # pylint: disable=import-outside-toplevel
    return backend.compile(model, **options)


def prompts(*tasks, **options):
    """A prompt for each task of these files and suites, as Env.prompts has them; `options`: of cawb.serve."""
    with serve(*tasks, **options) as env:
        return env.prompts()


def explain(compiled=None):
    """What became of the graphs of a compiled function, or of all in this process, as text."""
    from cawb import backend                  # pylint: disable=import-outside-toplevel
    return backend.explain(compiled)
