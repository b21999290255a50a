"""drive.py CAWB PYTHON OUT: `cawb mcp` under the official client, in both generations of the
protocol: every tool is listed and called, the budget ends the run, and a client that leaves can
come back. tests/agent/mcp/run makes the environment."""
import asyncio
import os
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.client import Client
from mcp.client.stdio import stdio_client

cawb, python, out = sys.argv[1:4]
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))


def server(*flags):
    words = ["mcp", "strategies/ladder.lua", "examples/softmax.py", "--device", "sim:h100", "--set", "task.rows=8", "--set",
             "task.cols=64", "--set", "sweep.variants=1", "--set", "turns=3", "--out", out, "--quiet", *flags]
    environment = {"CAWB_PYTHON": python, "HOME": os.environ.get("HOME", "/"), "PATH": os.environ["PATH"]}
    return StdioServerParameters(command=cawb, args=words, cwd=ROOT, env=environment)


def text_of(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


async def say(session, name, failed, **arguments):
    result = await session.call_tool(name, arguments)
    text = result.content[0].text
    assert result.is_error == failed, (name, text)
    return text


async def write(session, rung):
    await say(session, "write_file", False, path="kernel.cu", text=text_of("kernels/softmax/%s.cu" % rung))
    await say(session, "write_file", False, path="plan.lua", text=text_of("kernels/softmax/%s.lua" % rung))


async def every_tool(session):
    listed = {tool.name: tool for tool in (await session.list_tools()).tools}
    for tool in listed.values():
        assert tool.description and tool.input_schema["type"] == "object", tool
    await say(session, "compose", False)
    await write(session, "v1_thread_per_row")
    called = {"compose", "write_file"}
    for name, arguments in (("list", {}), ("read_file", {"path": "task/softmax.py"}), ("search", {"text": "softmax"}),
                            ("edit_file", {"path": "kernel.cu", "old": "// Changed:", "new": "// changed:"}), ("compile", {}),
                            ("verify", {}), ("profile", {}), ("skill", {"question": "bank conflicts"}), ("measure", {"note": "first"})):
        await say(session, name, False, **arguments)
        called.add(name)
    return set(listed) - called


async def handshake():
    async with stdio_client(server()) as (read, write_stream):
        async with ClientSession(read, write_stream) as session:
            hello = await session.initialize()
            print("handshake: %s, protocol %s" % (hello.server_info.name, hello.protocol_version))
            left = await every_tool(session)
            assert left == {"submit"}, left
            assert "2 turns" in await say(session, "measure", False)            # the same one again
            try:
                await session.call_tool("nosuch", {})
                raise AssertionError("a tool that is none")
            except Exception as error:
                assert "there is no tool" in str(error), error
    print("handshake: every tool was listed and called, then the client left")


async def without(run):
    async with Client(server("--resume", run), mode="auto") as client:
        print("without a handshake: protocol %s, run %s" % (client.protocol_version, run))
        assert len((await client.list_tools()).tools) >= 11
        await write(client, "v3_shuffle")
        assert "1 turn" in await say(client, "measure", False)
        await say(client, "edit_file", False, path="kernel.cu", old="const int t = threadIdx.x",
                  new="if (clock64() == 0) return;\n  const int t = threadIdx.x")
        assert "clock" in await say(client, "measure", True)                    # a rule
        assert "The run has ended (turns)" in await say(client, "measure", True)
    print("without a handshake: the run went on, and ended with its budget")


asyncio.run(handshake())
asyncio.run(without(next(name for name in os.listdir(out) if "softmax" in name)))
