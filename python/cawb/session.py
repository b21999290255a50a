"""Session: a run on a server that is driven step by step, over a WebSocket (RFC 6455), on OpenEnv's wire."""
import base64
import hashlib
import json
import os
import socket
import urllib.parse

TEXT, CLOSE, PING, PONG = 1, 8, 9, 10


class Line:
    """A WebSocket's client: whole messages of text, out and in."""

    def __init__(self, url, path, token, timeout):
        parts = urllib.parse.urlsplit(url)
        self.socket = socket.create_connection((parts.hostname, parts.port or 80), timeout)
        self.stream = self.socket.makefile("rb")
        try:
            self._shake_hands(parts.netloc, path, token)
        except BaseException:
            self.close()
            raise

    def _shake_hands(self, host, path, token):
        key = base64.b64encode(os.urandom(16)).decode()
        bearer = "Authorization: Bearer %s\r\n" % token if token else ""
        self.socket.sendall(("GET %s HTTP/1.1\r\nHost: %s\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: %s\r\n"
                             "Sec-WebSocket-Version: 13\r\n%s\r\n" % (path, host, key, bearer)).encode())
        status, headers = self.stream.readline().decode().strip(), {}
        while (line := self.stream.readline().decode().strip()):
            name, _, value = line.partition(":")
            headers[name.lower()] = value.strip()
        wanted = hashlib.sha1((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()).digest()
        if " 101 " not in status + " " or headers.get("sec-websocket-accept") != base64.b64encode(wanted).decode():
            raise ConnectionError("the server opens no session: %s" % (status or "it closed the connection"))

    def _send(self, opcode, data):
        mask, size = os.urandom(4), len(data)
        if size < 126:
            head = bytes([128 | opcode, 128 | size])
        elif size < 65536:
            head = bytes([128 | opcode, 254]) + size.to_bytes(2, "big")
        else:
            head = bytes([128 | opcode, 255]) + size.to_bytes(8, "big")
        key = (mask * (size // 4 + 1))[:size]
        hidden = (int.from_bytes(data, "big") ^ int.from_bytes(key, "big")).to_bytes(size, "big")
        self.socket.sendall(head + mask + hidden)

    def _exactly(self, size):
        data = self.stream.read(size)
        if len(data) < size:
            raise ConnectionError("the server closed the session")
        return data

    def send(self, text):
        self._send(TEXT, text.encode())

    def receive(self):
        """The next message; the server sends each in one frame."""
        while True:
            head = self._exactly(2)
            opcode, size = head[0] & 15, head[1] & 127
            if size > 125:
                size = int.from_bytes(self._exactly(2 if size == 126 else 8), "big")
            data = self._exactly(size)
            if opcode == PING:
                self._send(PONG, data)
            elif opcode == CLOSE:
                raise ConnectionError("the server closed the session: %s" % data[2:].decode(errors="replace"))
            elif opcode == TEXT:
                return data.decode()

    def close(self):
        self.stream.close()
        self.socket.close()


class Step:
    """What came of a reset or a step: `observation` (a dictionary), `reward` (a number or None), `done`."""

    def __init__(self, data):
        self.observation, self.reward, self.done = data["observation"], data["reward"], data["done"]

    def __repr__(self):
        return "Step(reward=%r, done=%r, text=%r)" % (self.reward, self.done, self.observation.get("text", "")[:80])


class Session:
    """One run at a time, on a connection of its own; `first` is the Step of its reset, with the text for the model. Raises RuntimeError where the server cannot read what was sent, or
    the machine failed, and ConnectionError where the session is gone."""

    def __init__(self, url, token=None, timeout=600.0):
        self.line, self.first = Line(url, "/ws", token, timeout), None

    def _ask(self, kind, data=None):
        self.line.send(json.dumps({"type": kind} if data is None else {"type": kind, "data": data}))
        answer = json.loads(self.line.receive())
        if answer["type"] == "error":
            raise RuntimeError("%(message)s (%(code)s)" % answer["data"])
        return answer["data"]

    def reset(self, **wanted):
        """Begin a run: task=, turns=, seed=, episode_id=, prompt="propose" for instructions without tools."""
        self.first = Step(self._ask("reset", wanted))
        return self.first

    def step(self, **action):
        """A candidate in one of its forms, or tool= with arguments=."""
        return Step(self._ask("step", action))

    def state(self):
        return self._ask("state")

    def close(self):
        self.line.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
