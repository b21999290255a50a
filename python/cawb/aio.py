"""The same in coroutines: every call waits in a thread, so that others go on."""
import asyncio

from cawb.client import connect
from cawb.process import serve

CALLS = ("health", "tasks", "score", "score_all")


class AsyncEnv:
    """An Env whose calls are awaited: health, tasks, score, score_all."""

    def __init__(self, make):
        self.make, self.env = make, None

    async def __aenter__(self):
        self.env = await asyncio.to_thread(self.make)
        return self

    async def __aexit__(self, *_):
        await asyncio.to_thread(self.env.close)

    def __getattr__(self, name):
        if name not in CALLS:
            raise AttributeError("%s: awaited are %s" % (name, ", ".join(CALLS)))
        method = getattr(self.env, name)

        async def call(*args, **more):
            return await asyncio.to_thread(method, *args, **more)
        return call


def aserve(*tasks, **more):
    """As cawb.serve, for `async with`."""
    return AsyncEnv(lambda: serve(*tasks, **more))


def aconnect(url, token=None, **more):
    """As cawb.connect, for `async with`."""
    return AsyncEnv(lambda: connect(url, token, **more))
