"""cawb from Python: an environment that judges GPU kernels, for trainers and scripts. Standard library only.

    import cawb
    with cawb.serve("examples/softmax.py", device="sim:h100") as env:
        print(env.score("softmax", source=source, plan=plan)["reward"])

`serve` starts a server of its own and ends it; `connect` uses one that runs. Both give an Env. In coroutines:
`async with cawb.aserve(...) as env: await env.score(...)`, and `cawb.aconnect(...)`. `profile` says what a device counts of
a candidate, and what bounds it.
"""
from cawb.aio import AsyncEnv, aconnect, aserve
from cawb.client import Env, Failed, Refused, connect
from cawb.look import profile
from cawb.process import program, serve
from cawb.session import Session

__all__ = ["AsyncEnv", "Env", "Failed", "Refused", "Session", "aconnect", "aserve", "connect", "profile", "program", "serve"]
