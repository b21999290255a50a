"""crowd.py [--device NAME] [--places N] [--connections N] [--addresses N] [--rounds N] [--scores N]: what an honest client of `cawb serve` waits
for a score beside a crowd of hostile connections, and alone. Rounds take turns: alone, in the crowd, alone, ... The crowd has its own
addresses, because a client is an address. A quarter of it each: heads that arrive byte by byte, bodies that never end, sessions that say nothing,
and kernels that never end, again and again. Prints seconds a score (median, quartiles), how many passed, and the ratio; its output is
bench/results/learn/crowd.txt.

    CAWB_PROGRAM=build/release/bin/cawb CAWB_PYTHON=... python bench/learn/crowd.py > bench/results/learn/crowd.txt
"""
import argparse
import contextlib
import http.client
import json
import os
import socket
import statistics
import sys
import threading
import time
import urllib.parse

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import serve  # noqa: E402

HONEST = "127.0.0.2"
ENDLESS = {"source": "extern \"C\" __global__ void f(float *y, unsigned n) { unsigned a = 1; while (a != n) a = (a * 1664525u + 1013904223u) | 1u; y[0] = a; } // %s",
           "plan": "launch(\"f\", { grid = 1, block = 32 }, outputs[1], 0)"}


class Crowd:
    """Connections that come back whenever they are ended, until close()."""

    def __init__(self, at, task, connections, addresses):
        self.at, self.task, self.over, self.made = at, task, threading.Event(), [0] * 4
        kinds = (self.slow_head, self.endless_body, self.silent_session, self.endless_kernel)
        self.threads = [threading.Thread(target=self.again, args=(number % 4, kinds[number % 4], "127.0.1.%d" % (1 + number % addresses)), daemon=True)
                        for number in range(connections)]
        for thread in self.threads:
            thread.start()

    def again(self, number, kind, address):
        while not self.over.is_set():
            with contextlib.suppress(OSError, http.client.HTTPException):
                with socket.create_connection(self.at, timeout=60, source_address=(address, 0)) as line:
                    self.made[number] += 1
                    kind(line)
            self.over.wait(0.2)

    def drip(self, line, text):
        for byte in text:
            line.sendall(bytes([byte]))
            if self.over.wait(1.0):
                return

    def slow_head(self, line):
        self.drip(line, b"GET /health HTTP/1.1\r\nHost: a\r\nX-Slow: " + b"a" * 1000)

    def endless_body(self, line):
        line.sendall(b"POST /score HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n{")
        self.drip(line, b" " * 1000)

    def silent_session(self, line):
        line.sendall(b"GET /ws HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                     b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")
        while not self.over.is_set() and line.recv(4096):
            pass

    def endless_kernel(self, line):
        item = {"task": self.task, "candidate": dict(ENDLESS, source=ENDLESS["source"] % os.urandom(4).hex())}
        body = json.dumps({"items": [item], "memo": False}).encode()
        line.sendall(b"POST /score HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        while not self.over.is_set() and line.recv(4096):
            pass

    def close(self):
        self.over.set()


def score(at, item):
    """Seconds until the answer, and whether it passed."""
    began, body = time.monotonic(), json.dumps({"items": [item], "memo": False, "request_id": os.urandom(8).hex()})
    status = 202
    while status == 202:
        with contextlib.closing(http.client.HTTPConnection(*at, timeout=600, source_address=(HONEST, 0))) as line:
            line.request("POST", "/score", body, {"Content-Type": "application/json"})
            answer = line.getresponse()
            status, answer = answer.status, json.loads(answer.read())
    return time.monotonic() - began, bool(answer["items"][0].get("ok"))


def shown(name, found):
    times = sorted(t for t, _ in found)
    low, middle, high = statistics.quantiles(times, n=4)
    print("%-9s %6d %7d %10.2f %10.2f %10.2f %10.2f" % (name, len(found), sum(ok for _, ok in found), middle, low, high, times[-1]), flush=True)
    return middle


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="sim:h100")
    parser.add_argument("--places", type=int, default=2)
    parser.add_argument("--connections", type=int, default=200)
    parser.add_argument("--addresses", type=int, default=8, help="of the crowd")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--scores", type=int, default=10, help="in each round")
    args = parser.parse_args()
    args.against = "eager"
    print("an honest client beside %d hostile connections of %d addresses, %s, %d places\n%s\n" % (args.connections, args.addresses, args.device,
                                                                                              args.places, serve.machine()))
    print("%-9s %6s %7s %10s %10s %10s %10s" % ("", "scores", "passed", "median s", "quartile", "quartile", "longest"), flush=True)
    task, found = serve.SUBJECTS["reduce"], {"alone": [], "crowd": []}
    with contextlib.closing(serve.server(args, "64 x 1024", args.places)) as env:
        at = urllib.parse.urlparse(env.url)
        at = at.hostname, at.port
        items = iter(serve.candidates("reduce", task, 1000))
        for _ in range(2 * args.places):
            score(at, next(items))
        for _ in range(args.rounds):
            for name in found:
                crowd = Crowd(at, task, args.connections, args.addresses) if name == "crowd" else None
                if crowd:
                    time.sleep(3)
                one = [score(at, next(items)) for _ in range(args.scores)]
                if crowd:
                    crowd.close()
                    print("   the crowd came %d times with heads, %d with bodies, %d with sessions, %d with kernels" % tuple(crowd.made))
                    time.sleep(15)
                found[name] += one
                shown(name, one)
    alone, beside = (shown("all " + name, each) for name, each in found.items())
    print("\n%.2f times as long as alone" % (beside / alone))


if __name__ == "__main__":
    main()
