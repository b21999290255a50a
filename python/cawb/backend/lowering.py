"""lowering: the resident process `cawb lower`, one for each kind of chip: recorded graphs in, packages out."""
import atexit
import contextlib
import functools
import json
import os
import subprocess
import sys
import tempfile
import threading

from cawb.process import program

PATIENCE = 16        # graphs of one request for refusals


class Failed(Exception):
    """The process does not start, or ended."""


class Misnamed(Failed, ValueError):
    """There is no such device."""


class Lower:
    """One process. Calls wait for each other."""

    def __init__(self, device):
        self.device, self.lock, self.said = device, threading.Lock(), tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")
        self.process = subprocess.Popen([program(), "lower", "--device", device], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=self.said, text=True, encoding="utf-8",
                                        start_new_session=True)                  # a terminal's Ctrl-C is for the program alone

    def ended(self):
        """What ended the process: its last words, which name a wrong device where its status is 2."""
        status = self.process.wait()
        self.said.seek(0)
        words = self.said.read().strip()
        if status == 2 and words:
            return Misnamed("cawb: %s" % words.splitlines()[-1].removeprefix("cawb lower: "))
        sys.stderr.write(words + "\n" if words else "")
        return Failed("cawb lower ended with status %s%s" % (status, "; its last words are above" if words else ""))

    def ask(self, request):
        with self.lock:
            try:
                self.process.stdin.write(json.dumps(request, separators=(",", ":")) + "\n")
                self.process.stdin.flush()
                line = self.process.stdout.readline()
            except OSError as error:
                raise (self.ended() if self.process.poll() is not None else Failed("cawb lower: %s" % error)) from None
            except BaseException:              # an answer that nobody reads would be taken for that of the next request
                self.process.kill()
                self.close()
                raise
        if not line:
            raise self.ended()
        return json.loads(line)

    def close(self):
        with contextlib.suppress(OSError):              # one that has ended takes no last words
            self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()
        self.said.close()


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


os.register_at_fork(after_in_child=processes.clear)            # two processes would take each other's answers


@atexit.register
def close():
    """End all processes."""
    for one in processes.values():
        one.close()
    processes.clear()
