"""lowering: the resident process `cawb lower`, one for each kind of chip: recorded graphs in, packages out."""
import atexit
import functools
import json
import subprocess
import threading

from cawb.process import program

PATIENCE = 16        # graphs of one request for refusals


class Failed(Exception):
    """The process does not start, or ended."""


class Lower:
    """One process. Calls wait for each other."""

    def __init__(self, device):
        self.device, self.lock = device, threading.Lock()
        self.process = subprocess.Popen([program(), "lower", "--device", device], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, encoding="utf-8")

    def ask(self, request):
        with self.lock:
            try:
                self.process.stdin.write(json.dumps(request, separators=(",", ":")) + "\n")
                self.process.stdin.flush()
                line = self.process.stdout.readline()
            except OSError as error:
                raise Failed("cawb lower: %s" % error) from None
        if not line:
            raise Failed("cawb lower ended with status %s; its last words are above" % self.process.wait())
        return json.loads(line)

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()


processes, lock = {}, threading.Lock()


def ask(device, request):
    """The answer of the device's process, which is started where it does not run."""
    with lock:
        one = processes.get(device)
        if one is None or one.process.poll() is not None:
            one = processes[device] = Lower(device)
    return one.ask(request)


@functools.lru_cache(None)
def hello(device):
    """What the process says of the chip and of itself."""
    return ask(device, {"op": "hello"})


def operators(device):
    """The names of the operators that the compiler knows."""
    return hello(device)["operators"]


def refusals(device, requests):
    """For each recorded graph False, or why the compiler does not take it."""
    found = []
    for at in range(0, len(requests), PATIENCE):
        reply = ask(device, {"op": "refusals", "graphs": requests[at:at + PATIENCE]})
        if not reply["ok"]:
            raise Failed(reply["reason"])
        found += reply["refusals"]
    return found


@atexit.register
def close():
    """End all processes."""
    for one in processes.values():
        one.close()
    processes.clear()
