"""A page in a real browser: Chromium, driven over its debugging pipe. As a program: `browsing.py PAGE.html [CONDITION]` opens the page, waits
until the condition of JavaScript holds, and prints what it complained of and its text as JSON; 77 without a browser.
"""
import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAM = os.environ.get("CAWB_PROGRAM") or os.path.join(ROOT, "build", "release", "bin", "cawb")
BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


class Page:
    """One tab of a headless browser."""

    def __init__(self, profile):
        to_browser, self.out = os.pipe()
        self.back, from_browser = os.pipe()
        words = [BROWSER, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                 "--remote-debugging-pipe", "--user-data-dir=" + profile, "about:blank"]
        # beyond the two numbers that the browser wants, so that neither takes the other's place
        ends = [fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 10) for fd in (to_browser, from_browser)]
        self.process = subprocess.Popen(words, close_fds=False, preexec_fn=lambda: (os.dup2(ends[0], 3), os.dup2(ends[1], 4)),
                                        start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for fd in ends:
            os.close(fd)
        os.close(to_browser)
        os.close(from_browser)
        self.buffer, self.number, self.events, self.session = b"", 0, [], None
        targets = self.call("Target.getTargets")["targetInfos"]
        tab = next(t for t in targets if t["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=tab["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")

    def receive(self):
        while b"\0" not in self.buffer:
            data = os.read(self.back, 1 << 16)
            if not data:
                raise EOFError("the browser ended")
            self.buffer += data
        text, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(text)

    def call(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        while True:
            reply = self.receive()
            if reply.get("id") == self.number:
                if "error" in reply:
                    raise RuntimeError(reply["error"]["message"])
                return reply["result"]
            self.events.append(reply)

    def open(self, path):
        self.events = []
        self.call("Page.navigate", url="file://" + path)
        self.wait("document.documentElement.dataset.ready === 'yes'")

    def wait(self, condition, tries=600):
        self.run("""new Promise((done, fail) => { let left = %d; const look = () => { try { if (%s) return done(1); } catch (e) {}
          if (--left < 0) return fail(new Error("waited in vain")); setTimeout(look, 100); }; look(); })""" % (tries, condition))

    def run(self, script):
        reply = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in reply:
            raise RuntimeError(json.dumps(reply["exceptionDetails"])[:500])
        return reply["result"].get("value")

    def complaints(self):
        """Errors of scripts, of the console, and anything that was asked of a network."""
        bad = []
        for event in self.events:
            method, params = event.get("method"), event.get("params", {})
            if method == "Runtime.exceptionThrown" or (method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning")) \
                    or (method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning")):
                bad.append(json.dumps(params)[:300])
            if method == "Network.requestWillBeSent" and not params["request"]["url"].startswith(("file:", "data:", "about:")):
                bad.append(params["request"]["url"])
        return bad

    def close(self):
        os.killpg(self.process.pid, signal.SIGKILL)        # all of its processes: what is left would go on writing its profile
        self.process.wait()
        os.close(self.out)
        os.close(self.back)


def main(path, condition="true"):
    if not BROWSER:
        return 77
    with tempfile.TemporaryDirectory(prefix="cawb-browser-", ignore_cleanup_errors=True) as folder:
        page = Page(folder)
        try:
            page.open(os.path.abspath(path))
            page.wait(condition)
            print(json.dumps({"complaints": page.complaints(), "text": page.run("document.body.innerText"), "title": page.run("document.title")}))
        finally:
            page.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
