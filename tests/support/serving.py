"""A `cawb serve` for tests: started with small tasks on the simulated device, asked with the standard library."""
import base64
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import urllib.error
import urllib.request

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CAWB = os.environ.get("CAWB_PROGRAM")
LIMIT = int(os.environ.get("CAWB_TEST_LIMIT", "120"))           # seconds after which something hangs
PLACE = ["--device", "sim:h100", "--places", "1", "--set", "sweep.variants=1"]
SMALL = ["--set", "task.rows=8", "--set", "task.cols=64"]


def text_of(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def rung(name, family="softmax"):
    return {"source": text_of("kernels/%s/%s.cu" % (family, name)), "plan": text_of("kernels/%s/%s.lua" % (family, name))}


class Server:
    """A server process; `url` once it listens."""

    def __init__(self, out, *words, flags=(), sizes=SMALL):
        self.start("serve", *(words or ("examples/softmax.py",)), "--out", out, *PLACE, *sizes, *flags)

    def start(self, *words, limit=LIMIT):
        self.err, self.said = tempfile.TemporaryFile(), None
        environment = dict(os.environ, CAWB_PYTHON=os.environ.get("CAWB_PYTHON", sys.executable))
        self.process = subprocess.Popen([CAWB, *words, "--port", "0"], cwd=ROOT, env=environment, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=self.err)
        self.watch = threading.Timer(limit, self.process.kill)
        self.watch.start()
        self.line = self.process.stdout.readline().decode()
        found = re.search(r"http://[^,/ ]+", self.line)
        self.url = found and found.group(0)

    def ask(self, method, path, body=None, headers=None):
        """Status and answer; the answer is parsed where it is JSON."""
        data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, headers or {}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=LIMIT) as answer:
                status, text = answer.status, answer.read()
        except urllib.error.HTTPError as error:
            status, text = error.code, error.read()
        try:
            return status, json.loads(text)
        except ValueError:
            return status, text.decode()

    def ask_for_header(self, path, body, name):
        """Status, answer and a header of a POST."""
        request = urllib.request.Request(self.url + path, json.dumps(body).encode())
        with urllib.request.urlopen(request, timeout=LIMIT) as answer:
            return answer.status, json.load(answer), answer.headers[name]

    def score(self, *candidates, task="softmax", **more):
        return self.ask("POST", "/score", {"items": [{"task": task, "candidate": c} for c in candidates], **more})

    def evaluated(self):
        """How many candidates were evaluated, and not remembered."""
        text = self.ask("GET", "/metrics")[1]
        return int(re.search(r"^cawb_evaluation_seconds_count (\d+)$", text, re.M).group(1))

    def asked(self, op):
        """How often its task hosts were asked for this, and how many seconds that took."""
        text = self.ask("GET", "/metrics")[1]
        label = r'{process="task host",op="%s"} (\S+)$' % op
        found = [re.search("^cawb_%s_total" % name + label, text, re.M) for name in ("asked", "asked_seconds")]
        return tuple(float(one.group(1)) if one else 0.0 for one in found)

    def errors(self):
        if self.said is not None:
            return self.said
        self.err.seek(0)
        return self.err.read().decode(errors="replace")

    def end(self):
        """For a test that fails: nothing is left running."""
        if self.process.returncode is None:
            self.stop(signal.SIGKILL)

    def stop(self, sign=signal.SIGTERM):
        """The exit status."""
        self.process.send_signal(sign)
        status = self.process.wait()
        self.watch.cancel()
        self.process.stdout.close()
        self.said = self.errors()
        self.err.close()
        return status


class Socket:
    """A WebSocket as RFC 6455 has it, no more than a test needs."""

    def __init__(self, server, path="/ws", headers="", source=None):
        host, port = server.url.rsplit("/", 1)[1].rsplit(":", 1)
        self.socket = socket.create_connection((host, int(port)), LIMIT, source)
        self.socket.sendall(("GET %s HTTP/1.1\r\nHost: %s:%s\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                             "Sec-WebSocket-Key: %s\r\nSec-WebSocket-Version: 13\r\n%s\r\n"
                             % (path, host, port, base64.b64encode(os.urandom(16)).decode(), headers)).encode())
        self.stream = self.socket.makefile("rb")
        self.status = int(self.stream.readline().split()[1])
        while self.stream.readline().strip():
            pass

    def frame(self, bits, data):
        mask, size = os.urandom(4), len(data)
        head = bytes([bits]) + (bytes([128 | size]) if size < 126 else
                                bytes([128 | 126]) + size.to_bytes(2, "big") if size < 65536 else
                                bytes([128 | 127]) + size.to_bytes(8, "big"))
        self.socket.sendall(head + mask + bytes(b ^ mask[i % 4] for i, b in enumerate(data)))

    def receive(self):
        """Opcode and bytes of a frame; None at the end."""
        head = self.stream.read(2)
        if len(head) < 2:
            return None
        size = head[1] & 127
        if size > 125:
            size = int.from_bytes(self.stream.read(2 if size == 126 else 8), "big")
        return head[0] & 15, self.stream.read(size)

    def ask(self, kind, data=None):
        """The answer to a message: its type and its data."""
        self.frame(0x81, json.dumps({"type": kind} if data is None else {"type": kind, "data": data}).encode())
        answer = json.loads(self.receive()[1])
        return answer["type"], answer["data"]

    def close(self):
        self.stream.close()
        self.socket.close()
