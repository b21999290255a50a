"""judging: what is to be judged, written down for `cawb judge`, and its answer as a Verdict."""
import json
import os
import re
import subprocess
import tempfile

from cawb.ci.likeness import NotSent
from cawb.ci.named import HOW, named
from cawb.ci.verdict import of_data
from cawb.ci.written import JUDGING, Kernel, write_callable, write_kernel, write_task
from cawb.client import Failed
from cawb.process import program, surroundings

AGAIN = """cawb.judge was called while the judge imports this file. %s
Put the call below `if __name__ == "__main__":`, or into a test.""" % HOW


def judge(reference, kernel, examples=None, *, init=(), device="auto", rules=None, against=None, files=(), options=None, out=None,
          seed=None, timeout=None):
    """Is `kernel` right, and faster than `reference`? A Verdict; Failed where the machine, or the reference, fails.

    reference  a function, a torch.nn.Module's class (with `init` for its constructor), a module at module level, or a task's file
    kernel     CUDA with its plan: cawb.Kernel(source, plan), or the path of NAME.cu or of a folder; or Python: a function, a class,
               whatever is called and has a name at module level (Triton, a C++ extension, torch.compile), or a file with ModelNew
    examples   arguments of the reference: every check draws new ones of the same shapes, types and distribution of numbers. Or a
               function of a seed that returns arguments
    device     "auto", "cuda:0", "sim:h100" (no GPU; times of kernels are modelled, Python runs on the processor), "cpu"
    rules      "own": PyTorch and libraries may do the work, the default for Python; "strict": they may not; "off"
    against    baselines to time, such as ["eager", "compile"]
    files      sources that the kernel needs and no import or include names, such as ["csrc/*.cu"], from the working directory
    options    options of cawb (docs/reference/options.md), such as {"verify.trials": 3}
    out        the folder to record the run in, for `cawb report`; None: nowhere
    seed       repeats the secret inputs of an earlier run
    timeout    seconds"""
    if os.environ.get(JUDGING):
        raise RuntimeError(AGAIN)
    with tempfile.TemporaryDirectory(prefix="cawb-") as folder:
        task, told = described_task(folder, reference, examples, init)
        candidate, python, built = described_kernel(folder, kernel, files)
        words = [program(), "judge", task, candidate, "--json", "--quiet", "--device", device, "--out", out or os.path.join(folder, "runs")]
        words += ["--seed", str(seed)] if seed is not None else []
        for name, value in choices(python, rules, against, options).items():
            words += ["--set", "%s=%s" % (name, str(value).lower() if isinstance(value, bool) else value)]
        status, text, errors = run(words, timeout)
        data = answer(status, text, errors, task, told, built)
        if out is None:
            data["page"] = [line for line in data["page"] if not line.startswith("recorded ")]
        return of_data(data)


def described_task(folder, reference, examples, init):
    if isinstance(reference, str) and reference.endswith(".py"):
        if examples is not None or init:
            raise NotSent("%s is a task's file, which makes its own inputs: leave out examples and init" % reference)
        return existing(reference), reference
    if examples is None:
        raise NotSent("examples are missing: a list of arguments of the reference, or a function of a seed that makes them")
    path, found = write_task(os.path.join(folder, "task"), reference, examples, init)
    return path, str(found)


def described_kernel(folder, kernel, files):
    """The candidate's path, whether it is in Python, and extensions that stay behind."""
    if isinstance(kernel, str) and ":" not in kernel:
        return kernel, kernel.endswith(".py") or os.path.exists(os.path.join(kernel, "model_new.py")), {}
    if isinstance(kernel, Kernel):
        return write_kernel(os.path.join(folder, "kernel"), kernel), False, {}
    found = named(kernel, "the kernel")
    below = os.path.join(folder, found.name)
    return below, True, write_callable(below, found, files)


def existing(path):
    if not os.path.isfile(path):
        raise FileNotFoundError("%s: there is no such file" % path)
    return path


def choices(python, rules, against, options):
    found = {"rules": rules or ("own" if python else "strict")}
    if against is not None:
        found["measure.against"] = ",".join(against)
    return {**found, **(options or {})}


def run(words, timeout):
    """Exit status, standard output, standard error."""
    process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               env=surroundings({JUDGING: "1"}))
    with process:
        try:
            text, errors = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            process.terminate()
            raise Failed("cawb judge took longer than %g s" % timeout) from None
        except BaseException:
            process.terminate()
            raise
    return process.returncode, text, errors


def answer(status, text, errors, task, told, built):
    """The object that it printed, in the user's words."""
    def own(message):
        message = re.sub(re.escape(task) + r"(:\d+)?", told, message)
        return message.replace(os.path.basename(os.path.dirname(os.path.dirname(task))) + "/kernel", "kernel")
    try:
        data = json.loads(text.strip().rpartition("\n")[2])
    except ValueError:
        said = own(errors.strip()) or "cawb judge ended with %d and said nothing" % status
        raise Failed(said[len("cawb: "):] if said.startswith("cawb: ") else said) from None
    data["page"] = [own(line) for line in data["page"] if not line.startswith("note: get_inputs() seeds")]      # by a seed of ours
    for name, file in built.items():
        if "No module named '%s'" % name in data["sentence"]:
            data["page"].insert(1, "%s is an extension that was built in place (%s), and such files are not sent. Install it, or give its"
                                   " sources by files=[...]: the judge builds what defines a PYBIND11_MODULE." % (name, file))
    return data
