"""Env: a server's tasks, scores and sessions over HTTP."""
import http.client
import json
import time
import urllib.error
import urllib.request
import uuid

from cawb.session import Session


class Refused(Exception):
    """The server cannot read what was sent, or lets nobody in: `status` is HTTP's."""

    def __init__(self, status, message):
        super().__init__("%s (status %d)" % (message, status))
        self.status = status


class Failed(Exception):
    """The machine at the other end failed, or does not answer: nothing is known of the candidate."""


def candidate(fields):
    """The fields of one candidate, without those that are None."""
    given = {name: value for name, value in fields.items() if value is not None}
    if not given:
        raise TypeError("give a candidate: source= with plan=, python=, text=, short= or schedule=")
    return given


class Env:
    """A server at `url`. `timeout`: seconds that an answer may take in all, retries and queueing included."""

    def __init__(self, url, token=None, timeout=600.0, tries=6):
        self.url, self.token, self.timeout, self.tries = url.rstrip("/"), token, timeout, tries

    def _headers(self):
        headers = {"Content-Type": "application/json"}
        if self.token:
            headers["Authorization"] = "Bearer " + self.token
        return headers

    def _once(self, method, path, body, seconds):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, self._headers(), method=method)
        try:
            with urllib.request.urlopen(request, timeout=max(0.001, seconds)) as answer:
                return answer.status, json.loads(answer.read())
        except urllib.error.HTTPError as error:
            with error:
                text = error.read()
            try:
                return error.code, json.loads(text)
            except ValueError:
                return error.code, {"error": text.decode(errors="replace")}

    def _ask(self, method, path, body=None):
        """Status and answer; what may pass is tried again, until the time is up."""
        ends, last, pause = time.monotonic() + self.timeout, None, 0.1
        for _ in range(self.tries):
            try:
                status, answer = self._once(method, path, body, ends - time.monotonic())
                if status not in (429, 503):
                    return status, answer
                last = answer.get("error", "status %d" % status)
            except (OSError, http.client.HTTPException, ValueError) as error:
                last = error
            if time.monotonic() + pause >= ends:
                break
            time.sleep(pause)
            pause = min(5.0, pause * 2)
        raise Failed("%s %s%s: %s" % (method, self.url, path, last))

    def _get(self, method, path, body=None):
        status, answer = self._ask(method, path, body)
        if status >= 400:
            raise Refused(status, answer.get("error", "refused"))
        return status, answer

    def health(self):
        """"healthy", or "stopping"."""
        return self._get("GET", "/health")[1]["status"]

    def tasks(self):
        """What is served: a list of {"key", "name", "hash", ...}."""
        return self._get("GET", "/tasks")[1]["tasks"]

    def prompts(self, *tasks):
        """A prompt for each task, of these or of all: [{"prompt": text, "task": key}, ...]. A reply to it is a candidate, text=."""
        asked = tasks or [task["key"] for task in self.tasks()]
        return [{"prompt": self._get("POST", "/reset", {"task": task, "prompt": "propose"})[1]["observation"]["text"], "task": task}
                for task in asked]

    def score_all(self, items, memo=True, request_id=None, confirm=False, strict=True):
        """What each of `items`, {"task": ..., "candidate": {...}}, is worth: a list of dictionaries with "ok", "reward"
        and more, in their order; with `confirm` what passes is evaluated again in a fresh worker. One that cannot be read raises Refused, one for which the
        machine failed Failed; without `strict` such an item has a text under "error" and no "ok", and the others are scored."""
        items = list(items)
        if not items:
            return []
        body = {"items": items, "memo": memo, "request_id": request_id or uuid.uuid4().hex, "confirm": confirm}
        ends = time.monotonic() + self.timeout
        status, answer = self._get("POST", "/score", body)
        while status == 202:
            if time.monotonic() > ends:
                raise Failed("no answer within %g s; %d of %d are done" % (self.timeout, answer["done"], answer["of"]))
            time.sleep(0.5)
            status, answer = self._get("POST", "/score", body)
        for item in answer["items"] if strict else ():
            if item.get("name") == "usage" and "reward" not in item:
                raise Refused(422, item["error"])
            if "error" in item and "reward" not in item:
                raise Failed(item["error"])
        return answer["items"]

    def score(self, task, source=None, plan=None, *, python=None, text=None, short=None, schedule=None, memo=True, confirm=False, **more):
        """What one candidate is worth on a task; memo, confirm: as of score_all. `more`: defines, options, tunables, name, note."""
        fields = dict(more, source=source, plan=plan, python=python, text=text, short=short, schedule=schedule)
        return self.score_all([{"task": task, "candidate": candidate(fields)}], memo, confirm=confirm)[0]

    def session(self, **reset):
        """A Session: a run that is driven step by step. With keywords it is reset with them."""
        one = Session(self.url, self.token, self.timeout)
        if reset:
            one.reset(**reset)
        return one

    def close(self):
        """Nothing is open between two requests."""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def connect(url, token=None, **more):
    """An Env of a server that runs; Failed where none answers."""
    env = Env(url, token, **more)
    try:
        env.health()
    except Failed as error:
        raise Failed("%s. `cawb serve` prints its address when it listens, after its tasks are read" % error) from None
    return env
