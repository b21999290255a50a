"""What a device says of a candidate, without a server: `cawb profile` as a function."""
import json
import os
import subprocess
import tempfile

from cawb.client import Failed
from cawb.process import program, surroundings


def words_of(task, candidate, device, options):
    words = [program(), "profile", task, candidate, "--device", device, "--json"]
    for name, value in (options or {}).items():
        words += ["--set", "%s=%s" % (name, str(value).lower() if isinstance(value, bool) else value)]
    return words


def profile(task, candidate=None, *, source=None, plan=None, device="auto", options=None):
    """Counts, what bounds the time, and what to try next, as `cawb profile --json` prints them: a dictionary with "metrics", "bound",
    "roofline", ... `candidate`: a folder, or a name such as "kernels/softmax/v1_thread_per_row"; or `source` and `plan`, two texts.
    Failed where the candidate does not run, with the reason."""
    if (candidate is None) == (source is None or plan is None):
        raise TypeError("give a candidate, or source= and plan=")
    with tempfile.TemporaryDirectory(prefix="cawb-") as folder:
        if candidate is None:
            for name, text in (("kernel.cu", source), ("plan.lua", plan)):
                with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                    file.write(text)
        done = subprocess.run(words_of(task, candidate or folder, device, options), stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, env=surroundings())
    if done.returncode != 0:
        raise Failed("cawb profile: %s" % (done.stderr or done.stdout).strip())
    return json.loads(done.stdout)
