"""A language model's endpoint that plays tricks, for tests: server.py [CERT KEY].

Speaks OpenAI's chat completions and Anthropic's messages. The address names the trick:
http://127.0.0.1:PORT/TRICK/CASE/v1/chat/completions or .../messages; requests with the same
TRICK/CASE are counted together. Prints its ports, one for TLS where a certificate is given,
and ends at /quit, when its standard input closes, or after ten minutes.
"""
import json
import socket
import ssl
import sys
import threading
import time

WORDS = ["Hel", "lo, ", "wörld ", "✓ 🎉", "!"]
TEXT = "".join(WORDS)
ARGUMENTS = {"path": "kernel.cu", "text": "float x = 1.0f; // ü\n\"quoted\" \\ back"}


# ---- replies in both protocols: a list of events, or one body

class OpenAI:
    name = "openai"

    @staticmethod
    def chunk(delta, finish=None, **more):
        return event(dict({"id": "c1", "object": "chat.completion.chunk", "choices": [
            {"index": 0, "delta": delta, "finish_reason": finish}]}, **more))

    def events(self, words=WORDS, calls=(), usage=True, finish=None, done=True):
        out = [self.chunk({"role": "assistant", "content": ""})]
        out += [self.chunk({"content": w}) for w in words]
        for i, (name, pieces) in enumerate(calls):
            out.append(self.chunk({"tool_calls": [{"index": i, "id": "call_%d" % i, "type": "function",
                                                   "function": {"name": name, "arguments": ""}}]}))
            out += [self.chunk({"tool_calls": [{"index": i, "function": {"arguments": p}}]}) for p in pieces]
        out.append(self.chunk({}, finish or ("tool_calls" if calls else "stop")))
        if usage:
            out.append(event({"choices": [], "usage": self.usage()}))
        return out + ([b"data: [DONE]\n\n"] if done else [])

    @staticmethod
    def usage():
        return {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120,
                "prompt_tokens_details": {"cached_tokens": 40},
                "completion_tokens_details": {"reasoning_tokens": 5}}

    def body(self, text=TEXT, calls=(), finish="stop"):
        message = {"role": "assistant", "content": text}
        if calls:
            message["tool_calls"] = [{"id": "call_%d" % i, "type": "function", "function": {
                "name": n, "arguments": "".join(p)}} for i, (n, p) in enumerate(calls)]
        return {"choices": [{"index": 0, "message": message, "finish_reason": finish}], "usage": self.usage()}

    @staticmethod
    def error(kind, message):
        return {"error": {"type": kind, "code": kind, "message": message}}

    def error_event(self):
        return event(self.error("server_error", "overloaded: no capacity left"))

    def strange_events(self):
        return [event({"choices": [{"index": 0, "delta": {"content": TEXT, "mood": "fine"},
                                    "finish_reason": "stop", "zodiac": 7}], "weather": {}}), b"data: [DONE]\n\n"]

    def null_events(self):
        return [event({"id": None, "choices": [{"index": None, "delta": {"role": None, "content": TEXT,
                "tool_calls": None}, "finish_reason": None, "logprobs": None}], "usage": None}),
                event({"choices": [{"delta": {"content": None}, "finish_reason": "stop"}]}), b"data: [DONE]\n\n"]

    def wrong_types(self):
        return [event({"choices": [{"delta": {"content": 5, "tool_calls": "x"}, "finish_reason": "stop"}],
                       "usage": [1]}), b"data: [DONE]\n\n"]

    def delta(self, raw):
        return b'data: {"choices":[{"index":0,"delta":{"content":"' + raw + b'"}}]}\n\n'


class Anthropic:
    name = "anthropic"

    def events(self, words=WORDS, calls=(), usage=True, finish=None, done=True):
        used = {"input_tokens": 60, "cache_read_input_tokens": 40, "cache_creation_input_tokens": 0, "output_tokens": 1}
        out = [self.named("message_start", {"message": dict({"id": "m1", "role": "assistant", "content": []},
                                                            **({"usage": used} if usage else {}))}),
               self.named("ping", {})]
        at = 0
        if words:
            out.append(self.named("content_block_start", {"index": 0, "content_block": {"type": "text", "text": ""}}))
            out += [self.named("content_block_delta", {"index": 0, "delta": {"type": "text_delta", "text": w}})
                    for w in words]
            out.append(self.named("content_block_stop", {"index": 0}))
            at = 1
        for i, (name, pieces) in enumerate(calls):
            out.append(self.named("content_block_start", {"index": at + i, "content_block": {
                "type": "tool_use", "id": "call_%d" % i, "name": name, "input": {}}}))
            out += [self.named("content_block_delta", {"index": at + i, "delta": {
                "type": "input_json_delta", "partial_json": p}}) for p in pieces]
            out.append(self.named("content_block_stop", {"index": at + i}))
        stop = {"length": "max_tokens", "content_filter": "refusal"}.get(finish, "tool_use" if calls else "end_turn")
        out.append(self.named("message_delta", dict({"delta": {"stop_reason": stop}},
                                                    **({"usage": {"output_tokens": 20}} if usage else {}))))
        return out + ([self.named("message_stop", {})] if done else [])

    @staticmethod
    def named(kind, fields):
        return b"event: " + kind.encode() + b"\n" + event(dict(fields, type=kind))

    def body(self, text=TEXT, calls=(), finish="stop"):
        content = [{"type": "text", "text": text}] if text else []
        content += [{"type": "tool_use", "id": "call_%d" % i, "name": n, "input": json.loads("".join(p))}
                    for i, (n, p) in enumerate(calls)]
        return {"type": "message", "role": "assistant", "content": content,
                "stop_reason": {"length": "max_tokens"}.get(finish, "end_turn"),
                "usage": {"input_tokens": 60, "cache_read_input_tokens": 40, "output_tokens": 20}}

    @staticmethod
    def error(kind, message):
        return {"type": "error", "error": {"type": kind, "message": message}}

    def error_event(self):
        return self.named("error", {"error": {"type": "overloaded_error", "message": "Overloaded"}})

    def strange_events(self):
        out = self.events()
        out.insert(2, self.named("horoscope", {"zodiac": 7}))
        out.insert(-2, self.named("content_block_start", {"index": 9, "content_block": {"type": "mood", "mood": 1}}))
        out.insert(-2, self.named("content_block_delta", {"index": 9, "delta": {"type": "mood_delta", "mood": 2}}))
        return out

    def null_events(self):
        out = self.events()
        out[0] = self.named("message_start", {"message": None})
        out[-2] = self.named("message_delta", {"delta": {"stop_reason": "end_turn", "stop_sequence": None}, "usage": None})
        return out

    def wrong_types(self):
        return [self.named("message_start", {"message": 5}),
                self.named("content_block_start", {"index": 0, "content_block": "x"}),
                self.named("content_block_delta", {"index": 0, "delta": 7}),
                self.named("message_delta", {"delta": {"stop_reason": "end_turn"}, "usage": [1]}),
                self.named("message_stop", {})]

    def delta(self, raw):
        return (self.events()[0] + self.named("content_block_start", {"index": 0, "content_block": {"type": "text", "text": ""}})
                + b'data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"' + raw + b'"}}\n\n')


def event(value):
    return b"data: " + json.dumps(value, ensure_ascii=False).encode() + b"\n\n"


# ---- one connection

class Gone(Exception):
    pass


class Connection:
    def __init__(self, sock, server):
        self.sock, self.server, self.buffer, self.open = sock, server, b"", True
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def read_request(self):
        while b"\r\n\r\n" not in self.buffer:
            more = self.sock.recv(65536)
            if not more:
                raise Gone
            self.buffer += more
        head, self.buffer = self.buffer.split(b"\r\n\r\n", 1)
        lines = head.decode().split("\r\n")
        headers = {k.lower(): v.strip() for k, v in (line.split(":", 1) for line in lines[1:])}
        size = int(headers.get("content-length", 0))
        while len(self.buffer) < size:
            more = self.sock.recv(65536)
            if not more:
                raise Gone
            self.buffer += more
        body, self.buffer = self.buffer[:size], self.buffer[size:]
        return lines[0].split(" ")[1], headers, body

    def send(self, data):
        self.sock.sendall(data)

    def reply(self, status, body, kind="application/json", headers=""):
        if isinstance(body, dict):
            body = json.dumps(body, ensure_ascii=False).encode()
        self.send(("HTTP/1.1 %d X\r\nContent-Type: %s\r\nContent-Length: %d\r\n%s\r\n"
                   % (status, kind, len(body), headers)).encode() + body)

    def begin_stream(self, kind="text/event-stream"):
        self.send(("HTTP/1.1 200 OK\r\nContent-Type: %s\r\nTransfer-Encoding: chunked\r\n\r\n" % kind).encode())

    def chunk(self, data):
        self.send(b"%x\r\n" % len(data) + data + b"\r\n")

    def stream(self, events):
        self.begin_stream()
        for e in events:
            self.chunk(e)
        self.send(b"0\r\n\r\n")

    def pieces(self, data, n):
        """A stream of these bytes, in n packets."""
        self.begin_stream()
        step = max(1, len(data) // n)
        for at in range(0, len(data), step):
            self.chunk(data[at:at + step])
            time.sleep(0.001)
        self.send(b"0\r\n\r\n")

    def cut(self):
        self.open = False


# ---- the tricks: (connection, protocol, how often before, request) -> nothing

def usual(c, p, n, r):
    if r.get("stream"):
        c.stream(p.events())
    else:
        c.reply(200, p.body())


def first(count, trick):
    """The trick so often, then the usual reply."""
    return lambda c, p, n, r: (trick if n < count else usual)(c, p, n, r)


def status(code, kind="some_error", message="no", headers="", content="application/json"):
    return lambda c, p, n, r: c.reply(code, p.error(kind, message) if content == "application/json" else b"<h1>bad</h1>",
                                      content, headers)


def silent(c, p, n, r):
    c.server.quit.wait(8)


def stall(c, p, n, r):
    c.begin_stream()
    for e in p.events()[:4]:
        c.chunk(e)
    c.server.quit.wait(8)


def trickle(c, p, n, r):
    c.begin_stream()
    for e in p.events(words=["x"] * 500):
        c.chunk(e)
        if c.server.quit.wait(0.02):
            break


def cut_after(keep):
    def trick(c, p, n, r):
        c.begin_stream()
        for e in p.events()[:keep]:
            c.chunk(e)
        c.cut()
    return trick


def cut_in_utf8(c, p, n, r):
    data = b"".join(p.events())
    c.begin_stream()
    c.chunk(data[:data.index("🎉".encode()) + 2])
    c.cut()


def ends_early(c, p, n, r):
    c.stream(p.events()[:4])


def crlf(c, p, n, r):
    data = b": a comment\r\n\r\nretry: 5\r\n" + b"".join(p.events()).replace(b"\n", b"\r\n")
    c.pieces(data, 40)


def cr_only(c, p, n, r):
    c.stream([b"".join(p.events()).replace(b"\n", b"\r")])


def tool(name, pieces):
    return lambda c, p, n, r: (c.stream(p.events(calls=[(name, pieces)])) if r.get("stream")
                               else c.reply(200, p.body("", [(name, pieces)], "tool_calls")))


def split(text, n):
    return [text[i:i + n] for i in range(0, len(text), n)]


def two_tools(c, p, n, r):
    c.stream(p.events(calls=[("list", ["{}"]), ("write_file", split(json.dumps(ARGUMENTS), 5))]))


def huge(c, p, n, r):
    c.begin_stream()
    try:
        for _ in range(4000):
            c.chunk(b"".join(p.events(words=["x" * 1000])[1:4]))
    except OSError:
        c.cut()


def huge_event(c, p, n, r):
    c.begin_stream()
    try:
        for _ in range(4000):
            c.chunk(b"data: " if _ == 0 else b"x" * 1000)
    except OSError:
        c.cut()


def redirect(c, p, n, r):
    c.reply(307, b"", "text/plain", "Location: http://127.0.0.1:%d/ok/stolen/v1\r\n" % c.server.port)


def closes_after(c, p, n, r):
    usual(c, p, n, r)
    c.cut()                                     # though the headers promise to stay


def bad_event(c, p, n, r):
    c.stream(p.events()[:3] + [b'data: {"choices": [{"del\n\n'] + p.events()[3:])


def nothing(c, p, n, r):
    c.stream([])


def says_nothing(c, p, n, r):
    c.stream(p.events(words=[]))


def not_http(c, p, n, r):
    c.send(b"220 mail.example.com ESMTP\r\n")
    c.cut()


def bad_chunk(c, p, n, r):
    c.begin_stream()
    c.chunk(p.events()[0])
    c.send(b"this is no length\r\n")
    c.cut()


def raw(data):
    return lambda c, p, n, r: c.stream([p.delta(data)] + p.events()[-2:])


def secret_echo(c, p, n, r):
    h = r["_headers"]
    c.reply(400, p.error("bad", "your key is %s" % (h.get("authorization") or h.get("x-api-key"))))


def secret_failure(c, p, n, r):
    """A failure that may pass, whose text clears the screen and shows the key where the message is cut."""
    h = r["_headers"]
    key = h.get("authorization") or h.get("x-api-key")
    c.reply(500, p.error("bad", "\x1b[2J\u009b2J" + "." * 370 + key))


def echo(c, p, n, r):
    h = dict(r.pop("_headers"))
    text = json.dumps({"body": r, "headers": h})
    c.reply(200, p.body(text))


def deep(c, p, n, r):
    c.stream([b"data: " + b"[" * 5000 + b"]" * 5000 + b"\n\n"] + p.events()[-2:])


def written_call(c, p, n, r):
    text = 'Let me write.\n<call tool="write_file">\n<path>kernel.cu</path>\n<text>\nint x;\n</text>\n</call>\n'
    c.stream(p.events(words=split(text, 7)))


def conversation(c, p, n, r):
    """A moment's thought, then an answer that depends on the question."""
    time.sleep(0.02)
    last = r["messages"][-1]["content"]
    text = last if isinstance(last, str) else last[0]["text"]
    c.stream(p.events(words=split("re: " + text, 3)))


TRICKS = {
    "ok": usual,
    "json_for_stream": lambda c, p, n, r: c.reply(200, p.body()),
    "stream_for_json": lambda c, p, n, r: c.stream(p.events()),
    "429_once": first(1, status(429, "rate_limit")),
    "429_after": first(1, status(429, "rate_limit", headers="Retry-After: 0\r\n")),
    "429_date": first(1, status(429, "rate_limit", headers="Retry-After: Wed, 21 Oct 2015 07:28:00 GMT\r\n")),
    "429_bad_after": first(1, status(429, "rate_limit", headers="Retry-After: soon\r\n")),
    "429_always": status(429, "rate_limit"),
    "429_long": status(429, "rate_limit", headers="Retry-After: 86400\r\n"),
    "quota": status(429, "insufficient_quota", "you exceeded your current quota"),
    "500_twice": first(2, status(500)),
    "500_always": status(500),
    "500_secret": secret_failure,
    "502_html": status(502, content="text/html"),
    "503_once": first(1, status(503, content="text/html")),
    "529_always": status(529, "overloaded_error"),
    "401": status(401, "invalid_api_key"),
    "403": status(403, "permission"),
    "404": status(404, "model_not_found"),
    "400": status(400, "invalid_request_error", "temperature: must be a number"),
    "context": status(400, "context_length_exceeded", "This model's maximum context length is 8192 tokens"),
    "context2": status(400, "invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum"),
    "413": status(413, "request_too_large"),
    "silent": silent, "stall": stall, "trickle": trickle,
    "cut": cut_after(4), "cut_once": first(1, cut_after(5)), "cut_at_once": cut_after(0),
    "cut_in_utf8": cut_in_utf8, "ends_early": ends_early,
    "closes": lambda c, p, n, r: c.cut(), "closes_once": first(1, lambda c, p, n, r: c.cut()),
    "one_packet": lambda c, p, n, r: c.stream([b"".join(p.events())]),
    "ten_packets": lambda c, p, n, r: c.pieces(b"".join(p.events()), 10),
    "bytes": lambda c, p, n, r: c.pieces(b"".join(p.events(words=["é🎉"])), 1 << 20),
    "crlf": crlf, "cr": cr_only,
    "bom": lambda c, p, n, r: c.stream([b"\xef\xbb\xbf"] + p.events()),
    "no_done": lambda c, p, n, r: c.stream(p.events(done=False)),
    "stays_open": lambda c, p, n, r: (c.begin_stream(), c.chunk(b"".join(p.events())), c.server.quit.wait(8)),
    "tool": tool("write_file", [json.dumps(ARGUMENTS)]),
    "tool_split": tool("write_file", split(json.dumps(ARGUMENTS), 3)),
    "tool_bad": tool("write_file", ['{"path": "kernel.cu", "te']),
    "tool_list": tool("write_file", ["[1, 2]"]),
    "tool_none": tool("list", []),
    "tool_unknown": tool("launch_missiles", ["{}"]),
    "two_tools": two_tools,
    "huge": huge, "huge_event": huge_event,
    "html": lambda c, p, n, r: c.reply(200, b"<html>welcome</html>", "text/html"),
    "no_type": lambda c, p, n, r: c.send(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"),
    "redirect": redirect, "closes_after": closes_after,
    "bad_event": bad_event, "bad_event_once": first(1, bad_event),
    "bad_body": lambda c, p, n, r: c.reply(200, b'{"choices": [', "application/json"),
    "other_body": lambda c, p, n, r: c.reply(200, {"hello": "world"}),
    "empty_body": lambda c, p, n, r: c.reply(200, b"", "application/json"),
    "nothing": nothing, "nothing_once": first(1, nothing), "says_nothing": says_nothing,
    "length": lambda c, p, n, r: c.stream(p.events(finish="length")),
    "only_thought": lambda c, p, n, r: c.stream(p.events(words=[], finish="length")),
    "filtered": lambda c, p, n, r: c.stream(p.events(words=[], finish="content_filter")),
    "unknown_fields": lambda c, p, n, r: c.stream(p.strange_events()),
    "nulls": lambda c, p, n, r: c.stream(p.null_events()),
    "wrong_types": lambda c, p, n, r: c.stream(p.wrong_types()),
    "no_usage": lambda c, p, n, r: c.stream(p.events(usage=False)),
    "error_event": lambda c, p, n, r: c.stream(p.events()[:3] + [p.error_event()]),
    "error_body": lambda c, p, n, r: c.reply(200, p.error("rate_limit_error", "slow down")),
    "bad_utf8": raw(b"abc\xff\xfe"), "surrogate": raw(b"\xed\xa0\x80"), "nul": raw(b"a\\u0000b"), "raw_nul": raw(b"a\x00b"),
    "not_http": not_http, "bad_chunk": bad_chunk, "deep": deep,
    "secret_echo": secret_echo, "echo": echo,
    "written_call": written_call, "conversation": conversation,
}


class Server:
    def __init__(self, certificate=None):
        self.counts, self.lock, self.quit = {}, threading.Lock(), threading.Event()
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=256)
        self.port = self.listener.getsockname()[1]
        self.context = None
        if certificate:
            self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self.context.load_cert_chain(*certificate)
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            sock, _ = self.listener.accept()
            threading.Thread(target=self.serve, args=(sock,), daemon=True).start()

    def serve(self, sock):
        try:
            if self.context:
                sock = self.context.wrap_socket(sock, server_side=True)
            c = Connection(sock, self)
            while c.open:
                self.answer(c)
        except (Gone, OSError):
            pass
        finally:
            sock.close()

    def answer(self, c):
        path, headers, body = c.read_request()
        parts = path.strip("/").split("/")
        if parts[0] == "quit":
            self.quit.set()
        if parts[0] == "count":                  # /count/TRICK/CASE: how often was it asked
            with self.lock:
                return c.reply(200, str(self.counts.get("/".join(parts[1:]), 0)).encode(), "text/plain")
        key = "/".join(parts[:2])
        with self.lock:
            before = self.counts.get(key, 0)
            self.counts[key] = before + 1
        p = Anthropic() if path.endswith("/messages") else OpenAI()
        request = json.loads(body) if body else {}
        if parts[0] in ("secret_echo", "500_secret", "echo"):
            request["_headers"] = headers
        TRICKS.get(parts[0], status(404))(c, p, before, request)


def main():
    server = Server()
    secure = Server(sys.argv[1:3]) if len(sys.argv) > 2 else None
    if secure:
        secure.quit = server.quit
    print(server.port, secure.port if secure else 0, flush=True)
    server.quit.wait(600)


if __name__ == "__main__":
    main()
