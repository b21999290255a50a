"""drive.py OUT: `cawb serve` under openenv-core's own client: an episode to its end, mistakes, 64 sessions at once,
and one too many. tests/learn/openenv/run makes the environment."""
import asyncio
import os
import sys

from openenv.core import GenericEnvClient

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "support"))

from serving import Server, rung

SESSIONS = 64


async def episode(url):
    async with GenericEnvClient(base_url=url) as env:
        first = await env.reset(task="softmax", turns=2, seed=3)
        assert not first.done and first.reward is None and "torch.softmax" in first.observation["task_code"], first
        silent = await env.step({"text": "I cannot."})
        assert silent.reward == -1 and not silent.done, silent
        right = await env.step(rung("v1_thread_per_row"))
        assert right.reward >= 1 and right.observation["result"]["ok"] and "PASS" in right.observation["text"], right
        look = await env.step({"tool": "profile"})
        assert look.reward is None and "modelled" in look.observation["text"], look
        try:
            await env.step({"sauce": "x"})
            raise AssertionError("an action that is none")
        except RuntimeError as error:
            assert "VALIDATION_ERROR" in str(error), error
        last = await env.step(dict(rung("v1_thread_per_row"), source="no kernel"))
        assert last.done and last.reward == -1, last
        state = await env.state()
        assert state["step_count"] == 4 and state["done"] == "turns", state       # the mistake was no step
        again = await env.reset(episode_id="mine")
        assert not again.done and (await env.state())["episode_id"] == "mine"
    print("an episode to its end, and another on the same connection")


async def crowd(url):
    clients = [GenericEnvClient(base_url=url, message_timeout_s=120) for _ in range(SESSIONS)]
    await asyncio.gather(*(client.connect() for client in clients))
    one_more = GenericEnvClient(base_url=url)
    await one_more.connect()
    try:
        await one_more.reset()
        raise AssertionError("a session more than there may be")
    except Exception as error:
        assert "CAPACITY_REACHED" in str(error), error
    await asyncio.gather(*(client.reset(task="softmax") for client in clients))
    source = rung("v1_thread_per_row")
    steps = await asyncio.gather(*(client.step(dict(source, source=source["source"] + "// %d\n" % i))
                                   for i, client in enumerate(clients)))
    assert all(step.reward >= 1 for step in steps) and len({step.observation["run"] for step in steps}) == SESSIONS
    await asyncio.gather(*(client.close() for client in clients))
    print("%d sessions at once, each a run of its own; one more is refused" % SESSIONS)


server = Server(sys.argv[1], flags=("--sessions", str(SESSIONS), "--set", "confirm.enabled=false"))
asyncio.run(episode(server.url))
asyncio.run(crowd(server.url))
assert server.stop() == 0, server.errors()
