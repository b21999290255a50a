"""A worker that a candidate has taken over, for tests: `worker.py FILE cawb --worker`.

Between the judge and a real worker it passes everything on, until FILE exists and says
"OP ATTACK": then that file is removed and the answer to the next request OP is the attack.
Any other process that answers requests can stand in the place of `cawb --worker`.
"""
import json
import os
import socket
import struct
import subprocess
import sys
import time

LARGE = 100 << 20


def receive(sock):
    head, fds, _, _ = socket.recv_fds(sock, 4, 8)
    if len(head) < 4:
        sys.exit(0)
    size, = struct.unpack("<I", head)
    body = b""
    while len(body) < size:
        body += sock.recv(size - len(body))
    return body, fds


def send(sock, body, fds=()):
    socket.send_fds(sock, [struct.pack("<I", len(body))], list(fds))
    sock.sendall(body)


def replaced(body, **fields):
    reply = json.loads(body)
    reply.update(fields)
    return json.dumps(reply).encode()


def number(body, text):
    """The answer with its first number replaced, wherever that is."""
    reply = json.loads(body)

    def walk(value):
        for key in list(value) if isinstance(value, dict) else range(len(value)):
            inner = value[key]
            if key == "call":
                continue
            if isinstance(inner, (int, float)) and not isinstance(inner, bool):
                value[key] = "@"
                return True
            if isinstance(inner, (dict, list)) and walk(inner):
                return True
        return False
    if not walk(reply):
        reply["number"] = "@"
    return json.dumps(reply).replace('"@"', text, 1).encode()


def missing(body):
    reply = json.loads(body)
    return json.dumps({key: reply[key] for key in reply if key in ("ok", "call")}).encode()


def wrong_types(body):
    reply = json.loads(body)
    return json.dumps({key: value if key in ("ok", "call") else {"no": ["such"]}
                       for key, value in reply.items()}).encode()


ATTACKS = {
    "nan": lambda body, _: number(body, "NaN"),
    "infinite": lambda body, _: number(body, "1e999"),
    "negative": lambda body, _: number(body, "-1e300"),
    "long": lambda body, _: replaced(body, message="x" * LARGE),
    "long_text": lambda body, _: replaced(body, note="x" * (30 << 20)),
    "deep": lambda body, _: b'{"ok":true,"x":' + b"[" * 100000 + b"]" * 100000 + b"}",
    "nested": lambda body, _: replaced(body)[:-1] + b',"x":' + b"[" * 900 + b"]" * 900 + b"}",
    "many": lambda body, _: replaced(body)[:-1] + b',"x":[' + b"1," * (3 << 20) + b"1]}",
    "no_utf8": lambda body, _: replaced(body)[:-1] + b',"race":"\xff\xfe\xc3("}',
    "surrogate": lambda body, _: replaced(body)[:-1] + b',"race":"\\ud800"}',
    "missing": lambda body, _: missing(body),
    "types": lambda body, _: wrong_types(body),
    "extra": lambda body, _: replaced(body, speedup=1000, reward=3),
    "no_json": lambda body, _: b"hello",
    "list": lambda body, _: b"[1,2,3]",
    "empty": lambda body, _: b"",
    "ok_text": lambda body, _: replaced(body, ok="yes"),
    "failure": lambda body, _: replaced(missing(body), ok=False, name="invalid", message="stop the run"),
    "failure_device": lambda body, _: replaced(missing(body), ok=False, name="device", message="CUDA error"),
    "failure_io": lambda body, _: replaced(missing(body), ok=False, name="io", message="stop the run"),
    "failure_interrupted": lambda body, _: replaced(missing(body), ok=False, name="interrupted", message="Ctrl-C"),
    "failure_odd": lambda body, _: replaced(missing(body), ok=False, name={"a": 1}, message=[5]),
    "failure_nameless": lambda body, _: replaced(missing(body), ok=False, name="verdict", message="passed"),
    "other": lambda _, last: last,
}


def main(arguments):
    path, command = arguments[0], arguments[1:]
    judge = socket.socket(fileno=3)
    ours, theirs = socket.socketpair()
    worker = subprocess.Popen(["/bin/sh", "-c", 'exec "$@" 3<&%d' % theirs.fileno(), "sh"] + command,
                              pass_fds=[theirs.fileno()])
    theirs.close()
    last = b'{"ok":true}'
    while worker.poll() is None:
        body, fds = receive(judge)
        send(ours, body, fds)
        for fd in fds:
            os.close(fd)
        reply, fds = receive(ours)
        honest = reply
        if os.path.exists(path):
            with open(path, encoding="ascii") as file:
                op, attack = file.read().split()
            if json.loads(body)["op"] == op:
                os.remove(path)
                if attack == "die":
                    worker.kill()
                    sys.exit(9)
                if attack == "hang":
                    time.sleep(3600)
                if attack == "twice":
                    send(judge, reply)
                elif attack == "descriptors":
                    send(judge, reply, [0] * 8)
                    continue
                else:
                    reply = ATTACKS[attack](reply, last)
        last = honest
        send(judge, reply, fds)
        for fd in fds:
            os.close(fd)


main(sys.argv[1:])
